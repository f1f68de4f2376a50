import {shapes} from './shapes.ts';

/** Keys as files, as strings, and in parts. */
export const privateKeys = shapes(
  'private keys',
  String.raw`
{rsaKey}
{pkcs8Key}
{ecKey}
{ecPkcs8Key}
{ed25519Key}
{encryptedKey}
{opensshKey}
{opensshRsaKey}
{dsaKey}
{pgpKey}
{puttyKey}
+ cat /root/.ssh/id_rsa⏎{opensshRsaKey}
+ echo '{rsaKey}'
+ cat⏎{rsaKey}⏎+ chmod 600 /root/.ssh/id_rsa
SSH_KEY="{opensshKey}"
export TLS_KEY='{ecKey}'
private_key = <<EOF⏎{rsaKey}⏎EOF
  private_key: |⏎    {rsaKey|indent:4}
      ssh_key: |-⏎        {opensshKey|indent:8}
tls.key: |⏎  {pkcs8Key|indent:2}
              - |⏎                {ecPkcs8Key|indent:16}
      + private_key = <<-EOT⏎            {pkcs8Key|indent:12}⏎        EOT
      - private_key = <<-EOT⏎            {rsaKey|indent:12}⏎        EOT -> null
      ~ private_key = (sensitive value)⏎      + content     = <<-EOT⏎            {ecKey|indent:12}⏎        EOT
{"private_key":"{rsaKey|json}\n"}
{"type":"service_account","private_key_id":"{sha}","private_key":"{pkcs8Key|json}\n","client_email":"x@y.iam.gserviceaccount.com"}
"private_key_pem": "{rsaKey|json}\n",
"key": "{opensshKey|json}",
GITHUB_APP_PEM="{rsaKey|json}"
private_key="{rsaKey|json|json}"
{\"private_key\":\"{pkcs8Key|json|json}\"}
"{\"data\":\"{\\\"key\\\":\\\"{ecKey|json|json|json}\\\"}\"}"
DEPLOY_KEY={rsaKey|flat}
+ echo {opensshKey|flat}
key: {ecKey|flat}
{rsaKey|url}
private_key={ecPkcs8Key|url}&passphrase=
{rsaKey|b64}
tls.key: {pkcs8Key|b64}
"tls.key": "{ecKey|b64}"
client-key-data: {rsaKey|b64}
SSH_KEY_B64={opensshKey|b64}
{pkcs8Key|b64|wrap:76}
key: |⏎  {rsaKey|b64|wrap:64}
{rsaKey|head:8}
{opensshRsaKey|head:10}⏎... (truncated)
{pkcs8Key|head:3}
{rsaKey|tail:12}
{pkcs8Key|tail:4}
{opensshRsaKey|tail:6}
{ecKey|head:2}
{ecKey|tail:3}
{rsaKey|joined}
{pkcs8Key|joined}
private_key: {ecPkcs8Key|joined}
"privateKey":"{pkcs8Key|joined}"
│ {rsaKey|margin:│ }
> {opensshKey|margin:> }
+{rsaKey|margin:+}
-{pkcs8Key|margin:-}
# {ecKey|margin:# }
<ca></ca><key>{pkcs8Key}</key>
<key>⏎{pkcs8Key}⏎</key>
<PrivateKey>{ecPkcs8Key|joined}</PrivateKey>
failed to parse private key: "{rsaKey|json}"
ssh: no key found in {opensshKey|json}
Load key "{opensshKey}": invalid format
error in libcrypto: {ecKey}
ValueError: Could not deserialize key data: b'{rsaKey|json}'
tls.LoadX509KeyPair: []byte("{pkcs8Key|json}")
&{PrivateKey:{ecKey} Cert:}
Config { key: "{ecPkcs8Key|json}" }
key='{rsaKey|json}', cert=None
-----BEGIN CERTIFICATE-----⏎MIIDdzCCAl+gAwIBAgIEAgAAuTANBgkqhkiG9w0BAQUFADBaMQswCQYDVQQGEwJJ⏎-----END CERTIFICATE-----⏎{pkcs8Key}
{"kty":"RSA","n":"{sha}","e":"AQAB","d":"{url64}","p":"{url64#2}"}
{"kty":"EC","crv":"P-256","x":"abc","y":"def","d":"{url32}"}
{"kty":"oct","k":"{url32}"}
[Interface]⏎PrivateKey = {wireguard}
private key: {wireguard}
# public key: age1{hexid}⏎{ageKey}
PrivateKey:{hex64}
(limit) 0x{hex64}
private_key=0x{hex64}
"secret_key": [12, 34], "seed": "{base64of64}"
(limit) {rsaKey|joined|cut:40}
(limit) {ed25519Key|joined|cut:30}
`,
);
