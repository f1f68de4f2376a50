import {shapes} from './shapes.ts';

/** What a limit of length, a terminal or an encoding leaves of a secret. */
export const transformed = shapes(
  'cut, wrapped, encoded',
  String.raw`
Authorization: Bearer {jwt|cut:60}... (truncated)
Authorization: Bearer {hex40|cut:24}
AWS_SESSION_TOKEN={awsSession|cut:120}
token={githubPat|cut:28}...
{githubPat|cut:30}
{jwt|cut:120}
{vaultToken|cut:40}
{stripeKey|cut:60}...
{"password":"{alnum32|cut:24}
{"msg":"login","token":"{alnum64|cut:48}
"secret_key": "{awsSecret|cut:30}
password = "{alnum24|cut:18}
postgres://{user}:{alnum24|cut:16}
https://{user}:{alnum32|cut:20}
AccountKey={azureStorageKey|cut:64}
...{azureStorageKey|end:60};EndpointSuffix=core.windows.net
{alnum32|end:24}@{host}:5432/{app}?sslmode=require
{jwt|end:200}
{awsSession|end:200} Expiration=2026-11-24T12:00:00Z
(limit) {hex64|end:48}","user":"{user}"}
{alnum40|end:30}" -> (known after apply)
{k8sToken|wrap:80}
token: {k8sToken|wrap:76}
AWS_SESSION_TOKEN={awsSession|wrap:80}
{awsSession|wrap:76}
{dockerAuth|wrap:60}
auth: {dockerAuth|wrap:64}
{azureStorageKey|wrap:64}
AccountKey={azureStorageKey|wrap:60}
"token": "{alnum64|wrap:40}"
password: >-⏎  {alnum64|wrap:32}
secret: |⏎  {base64of64|wrap:64}
{gzipped|wrap:76}
Authorization: Basic⏎ {basic}
Authorization:⏎  Bearer {hex40}
password:⏎  {password}
password =⏎  "{password|json}"
"password":⏎  "{password|json}"
DB_PASSWORD=\⏎{alnumPassword}
--password \⏎  {password|sh} \⏎  --user {user}
(limit) -p⏎{humanPassword}
Password:⏎⏎{password}
(limit) {password|b64}
password: {password|b64}
data: {"password":"{password|b64}"}
DB_PASSWORD_B64={password|b64}
echo {alnum40|b64} | base64 -d
b64:{githubPat|b64}
{githubPat|b64}
{awsSecret|b64}
{vaultToken|b64}
{jwt|b64}
{basic|b64}
password={password|b64|b64}
secret: {alnum32|b64url}
(limit) {password|hex}
password=0x{password|hex}
(limit) hex: {alnum32|hex}
password%3D{alnum32}%26user%3D{user}
%22password%22%3A%22{password|url}%22
%7B%22token%22%3A%22{alnum40}%22%7D
token%253D{alnum40}
postgres%3A%2F%2F{user}%3A{alnumPassword}%40{host}%2F{app}
https%3A%2F%2Fx-access-token%3A{githubPat}%40github.com%2F{org}%2F{repo}
password={password|url|url}
&quot;password&quot;:&quot;{password|html}&quot;
&lt;password&gt;{alnumPassword}&lt;/password&gt;
password&#61;{alnumPassword}
{\"password\":\"{password|json|json}\"}
{\"auth\":{\"token\":\"{hex40}\"}}
"{\\\"password\\\":\\\"{alnumPassword}\\\",\\\"user\\\":\\\"{user}\\\"}"
"config": "{\"db\": \"{\\\"secret\\\": \\\"{alnum32}\\\"}\"}"
\"AWS_SECRET_ACCESS_KEY\": \"{awsSecret}\"
password\u003d{alnumPassword}\u0026user\u003d{user}
\u0022password\u0022:\u0022{alnumPassword}\u0022
\x22token\x22:\x22{hex40}\x22
b'password={alnumPassword}&user={user}'
"env": "DB_PASSWORD={alnumPassword}\nDB_USER={user}\n"
password\t{alnumPassword}\n
DB_PASSWORD={password}\nDB_USER={user}
(limit) p a s s w o r d : {password}
PASSWORD={alnum32|upper}
tail: DB_PASSWORD={password}%0AUSER={user}
\u001b[1mpassword\u001b[0m: {password}
[1mpassword[0m = [32m"{alnumPassword}"[0m
password[0m: [33m{alnumPassword}[0m
^[[33mtoken^[[0m={hex40}
#033[31mDB_PASSWORD={alnumPassword}#033[0m
<13>Nov 24 12:00:00 node1 app[{pid}]: password={password}
Nov 24 12:00:00 ip-10-0-0-1 sudo: {user} : COMMAND=/usr/bin/mysql -p{alnumPassword}
type=EXECVE msg=audit(1790000000.1:{num}): argc=3 a0="mysql" a1="-u{user}" a2="-p{alnumPassword}"
(limit) type=PROCTITLE msg=audit(1790000000.1:{num}): proctitle=6D7973716C002D70{alnumPassword|hex|upper}
00000000  70 61 73 73 77 6f 72 64  3d  |password={alnumPassword}|
{ts} P {alnum40}
log="password={alnumPassword}" stream=stdout
@cee: {"msg":"x","password":"{password|json}"}
CEF:0|acme|agent|1|100|login|5|suser={user} pwd={alnumPassword}
ts={ts} caller=x msg="cfg" cfg="{Password:{alnumPassword} User:{user}}"
password,{alnumPassword},user,{user}
user,password⏎{user},{alnumPassword}
user⇥password⇥host⏎{user}⇥{alnumPassword}⇥{host}
 user  | password⏎-------+----------⏎ {user} | {alnumPassword}
+------+----------+⏎| user | password |⏎+------+----------+⏎| {user} | {alnumPassword} |
*************************** 1. row ***************************⏎password: {password}
-[ RECORD 1 ]-----⏎rolname     | {user}⏎rolpassword | {scram}
$2⏎AUTH⏎{dollar}16⏎{alnum16}
*2 $4 AUTH {dollar}32 {alnum32}
1790000000.123456 [0 {ip}:50000] "AUTH" "{alnumPassword}"
1790000000.123456 [0 {ip}:50000] "config" "set" "requirepass" "{alnumPassword}"
--boundary⏎Content-Disposition: form-data; name="password"⏎⏎{password}⏎--boundary--
Content-Type: text/x-shellscript⏎⏎{alnum40|b64|wrap:76}
(limit) {alnum32|cut:12}
(limit) {hex40|cut:20}
(limit) {password|b64|cut:10}
(limit) {alnum16|end:8}
(limit) {humanPassword|hex}
(limit) {humanPassword|b64}
(limit) {alnum24|wrap:12}
`,
);
