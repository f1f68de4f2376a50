import {randomOf} from './cases.ts';

/** Lines of real log formats without a secret. `«kind»` is an identifier that looks random; see IDENTIFIERS. */
const LINES = String.raw`
I1121 10:00:05.000000       1 controller.go:615] quota admission added evaluator for: secrets
I1121 10:00:05.117301       1 event.go:377] "Event occurred" object="scalr-agent/«pod»" fieldPath="" kind="Pod" apiVersion="v1" type="Normal" reason="Scheduled" message="Successfully assigned"
I1121 10:00:05.217301    2341 reconciler_common.go:245] "operationExecutor.VerifyControllerAttachedVolume started for volume \"kube-api-access-«lower5»\" (UniqueName: \"kubernetes.io/projected/«uuid»-kube-api-access-«lower5»\") pod \"«pod»\" (UID: \"«uuid»\") " pod="scalr-agent/«pod»"
E1121 10:00:06.000000       1 pod_workers.go:1298] "Error syncing pod, skipping" err="failed to \"StartContainer\" for \"agent\" with CrashLoopBackOff: \"back-off 5m0s restarting failed container=agent pod=«pod»_scalr-agent(«uuid»)\"" pod="scalr-agent/«pod»" podUID="«uuid»"
W1121 10:00:07.120021       1 authentication.go:73] Unable to authenticate the request due to an error: invalid bearer token
E1121 10:00:07.220021       1 authentication.go:70] "Unable to authenticate the request" err="[invalid bearer token, service account token has expired]"
I1121 10:00:08.000000       1 token_manager.go:121] "Token refreshed" key="scalr-agent/scalr-agent" expiration="2026-11-21T11:00:07Z"
I1121 10:00:08.100000       1 secret.go:194] Couldn't get secret scalr-agent/scalr-agent-token: secret "scalr-agent-token" not found
I1121 10:00:08.200000       1 garbagecollector.go:549] "Processing item" item="[v1/Secret, namespace: scalr-agent, name: scalr-agent-token, uid: «uuid»]" virtual=false
I1121 10:00:08.200100       1 leaderelection.go:271] successfully acquired lease kube-system/cloud-controller-manager
I1121 10:00:08.200200       1 trace.go:236] Trace[«digits9»]: "List" accept:application/json, */*,audit-id:«uuid»,client:10.0.1.23,protocol:HTTP/2.0,resource:secrets,scope:namespace,url:/api/v1/namespaces/scalr-agent/secrets,user-agent:kubectl/v1.31.0 (linux/amd64) kubernetes/«hex7»,verb:LIST (21-Nov-2026 10:00:08.100) (total time: 812ms):
I1121 10:00:09.000000       1 httplog.go:134] "HTTP" verb="POST" URI="/api/v1/namespaces/scalr-agent/serviceaccounts/scalr-agent/token" latency="3.1ms" userAgent="kubelet/v1.31.0 (linux/amd64) kubernetes/«hex7»" audit-ID="«uuid»" srcIP="10.0.1.23:51234" resp=201
{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Metadata","auditID":"«uuid»","stage":"ResponseComplete","requestURI":"/api/v1/namespaces/scalr-agent/secrets/scalr-agent-token","verb":"get","user":{"username":"system:serviceaccount:scalr-agent:scalr-agent","uid":"«uuid»","groups":["system:serviceaccounts","system:authenticated"],"extra":{"authentication.kubernetes.io/credential-id":["JTI=«uuid»"]}},"sourceIPs":["10.0.1.23"],"responseStatus":{"metadata":{},"code":200}}
time="2026-11-21T10:00:07.123456789Z" level=info msg="PullImage \"scalr/agent:0.42.0\" returns image reference \"sha256:«hex64»\""
time="2026-11-21T10:00:07.123456789Z" level=info msg="CreateContainer within sandbox \"«hex64»\" for container &ContainerMetadata{Name:agent,Attempt:0,}"
time="2026-11-21T10:00:07.123456789Z" level=error msg="StopPodSandbox for \"«hex64»\" failed" error="failed to destroy network for sandbox"
time="2026-11-21T10:00:07Z" level=warning msg="reference for unknown type: application/vnd.in-toto+json" digest="sha256:«hex64»" mediatype=application/vnd.in-toto+json size=1234
2026-11-21T10:00:07.123456789Z stdout F {"event": "Heartbeat sent", "level": "info", "agent_id": "agent-«scalr»", "timestamp": "2026-11-21 10:00:07.1"}
2026-11-21T10:00:07.123456789Z stderr F panic: runtime error: invalid memory address or nil pointer dereference
{"event": "Run claimed", "level": "info", "run_id": "run-«scalr»", "workspace_id": "ws-«scalr»", "environment_id": "env-«scalr»", "account_id": "acc-«scalr»", "logger_name": "tacoagent.worker", "timestamp": "2026-11-21 10:00:07.1"}
{"event": "Uploading plan file", "level": "info", "sha256": "«hex64»", "size": 18231, "etag": "\"«hex32»\"", "timestamp": "2026-11-21 10:00:07.1"}
{"event": "Cloning repository", "level": "info", "url": "https://github.com/acme/infra.git", "ref": "refs/heads/main", "commit": "«hex40»", "token_type": "installation", "timestamp": "2026-11-21 10:00:07.1"}
{"event": "request finished", "level": "debug", "trace_id": "«hex32»", "span_id": "«hex16»", "request_id": "«uuid»", "status": 200, "timestamp": "2026-11-21 10:00:07.1"}
{"event": "Completion request", "max_token": 128000, "max_tokens": 4096, "prompt_tokens": 812, "completion_tokens": 64, "total_tokens": 876, "tokens_per_second": 41.2, "level": "info"}
model=gpt max_token=128000 token_count=812 tokens=42 token_limit=8192 token_budget=100000 stop_token=none
{"event": "auth method", "auth": "service_account", "auth_type": "token", "token_ttl": 3600, "token_expires_at": "2026-11-21T11:00:00Z", "token_file": "/var/run/secrets/token", "level": "debug"}
{"event": "Secret mounted", "secret_name": "scalr-agent-token", "secret_key": "token", "secret_version": "3", "level": "info"}
{"event": "token refreshed", "level": "info", "key_id": "«hex16»", "kid": "«hex40»", "expires_in": 3600}
{"level":"info","ts":1795255207.1,"logger":"controller","msg":"Reconciling","controller":"certificate","namespace":"scalr-agent","name":"agent-tls","secretName":"agent-tls","reconcileID":"«uuid»"}
{"level":"error","ts":"2026-11-21T10:00:07Z","logger":"cert-manager.certificates-issuing","msg":"error issuing certificate","error":"secret \"agent-tls\" not found","resource_kind":"Certificate"}
{"level":"info","ts":1795255207.1,"caller":"etcdserver/server.go:2341","msg":"finished scheduled compaction","compact-revision":123456,"took":"12.1ms","hash":1234567890,"current-db-size":"5.2 MB"}
{"time":"2026-11-21T10:00:07.1Z","level":"INFO","msg":"external-secrets reconcile","ExternalSecret":{"name":"db","namespace":"scalr-agent"},"secretStore":"vault","refreshInterval":"1h0m0s"}
[INFO] 10.244.1.7:41234 - 51234 "A IN acme.scalr.io.svc.cluster.local. udp 49 false 512" NOERROR qr,aa,rd 142 0.000123s
10.0.1.23 - - [21/Nov/2026:10:00:07 +0000] "GET /api/iacp/v3/tokens?page=2 HTTP/1.1" 200 1234 "-" "python-requests/2.32.3" 512 0.003 [scalr-web-443] [] 10.244.1.9:8080 1234 0.003 200 «hex32»
10.0.1.23 - bob [21/Nov/2026:10:00:07 +0000] "POST /oauth/token HTTP/1.1" 401 52 "https://acme.scalr.io/login" "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36"
[2026-11-21T10:00:07.123Z] "GET /v1/token HTTP/2" 200 - via_upstream - "-" 0 1234 5 4 "-" "Go-http-client/2.0" "«uuid»" "vault.vault.svc:8200" "10.244.1.9:8200" outbound|8200||vault.vault.svc.cluster.local
POST https://login.microsoftonline.com/«uuid»/oauth2/v2.0/token: 400 Bad Request
GET https://acme.scalr.io/api/iacp/v3/service-accounts/sa-«scalr»/access-token 404
Get "https://ghcr.io/token?scope=repository%3Aacme%2Fagent%3Apull&service=ghcr.io": net/http: TLS handshake timeout
failed to authorize: failed to fetch anonymous token: unexpected status from GET request to https://ghcr.io/token?scope=repository%3Aacme%2Fagent%3Apull&service=ghcr.io: 403 Forbidden
Error response from daemon: Head "https://registry-1.docker.io/v2/scalr/agent/manifests/0.42.0": unauthorized: incorrect username or password
Error: getting credentials: exec: "docker-credential-desktop": executable file not found in $PATH, out: ""
denied: requested access to the resource is denied: password authentication failed
FATAL:  password authentication failed for user "app"
ERROR 1045 (28000): Access denied for user 'app'@'10.0.1.23' (using password: YES)
org.postgresql.util.PSQLException: FATAL: password authentication failed for user "app"
pq: password authentication failed for user "app"
NOAUTH Authentication required.
(error) WRONGPASS invalid username-password pair or user is disabled.
remote: Invalid username or password.
fatal: Authentication failed for 'https://github.com/acme/infra.git/'
fatal: could not read Password for 'https://github.com': terminal prompts disabled
remote: HTTP Basic: Access denied. The provided password or token is incorrect or your account has 2FA enabled and you must use a personal access token instead of a password.
error: src refspec main does not match any
HEAD is now at «hex7» Rotate the token of the agent pool
commit «hex40» (HEAD -> main, origin/main)
Merge: «hex7» «hex7»
index «hex7»..«hex7» 100644
 * [new branch]      token-rotation -> origin/token-rotation
Submodule path 'modules/secrets': checked out '«hex40»'
An error occurred (InvalidClientTokenId) when calling the GetCallerIdentity operation: The security token included in the request is invalid.
An error occurred (ExpiredToken) when calling the AssumeRole operation: The security token included in the request is expired
botocore.exceptions.NoCredentialsError: Unable to locate credentials
Error: error configuring Terraform AWS Provider: no valid credential sources for Terraform AWS Provider found.
Error: retrieving credentials: operation error STS: AssumeRole, https response error StatusCode: 403, RequestID: «uuid», api error AccessDenied: User: arn:aws:sts::123456789012:assumed-role/agent/«digits9» is not authorized to perform: sts:AssumeRole
  on main.tf line 12, in provider "aws":
AccessDenied: Access Denied status code: 403, request id: «upper16», host id: «b64-75»
operation error S3: GetObject, https response error StatusCode: 404, RequestID: «upper16», HostID: «b64-75», NoSuchKey
x-amz-id-2: «b64-75»
x-amz-request-id: «upper16»
X-Amz-Cf-Id: «b64url-54»==
cf-ray: «hex16»-FRA
x-github-request-id: «hexup4»:«hexup5»:«hexup6»:«hexup6»:«hexup8»
etag: W/"«hex40»"
ETag: "«hex32»"
docker-content-digest: sha256:«hex64»
traceparent: 00-«hex32»-«hex16»-01
www-authenticate: Bearer realm="https://auth.docker.io/token",service="registry.docker.io",scope="repository:scalr/agent:pull"
WWW-Authenticate: Basic realm="Restricted"
access-control-allow-headers: Authorization, X-Api-Key, X-Csrf-Token, Content-Type
vary: Authorization, Cookie
Initializing provider plugins found in the configuration...
- Reusing previous version of hashicorp/aws from the dependency lock file
- Using previously-installed hashicorp/aws v5.31.0
    "h1:«b64-43»=",
    "zh:«hex64»",
aws_instance.web: Creation complete after 13s [id=i-«hex17»]
aws_kms_key.main: Refreshing state... [id=«uuid»]
aws_vpc.main: Refreshing state... [id=vpc-«hex17»]
random_password.token: Refreshing state... [id=none]
tls_private_key.ca: Refreshing state... [id=«hex40»]
null_resource.login (local-exec): Executing: ["/bin/sh" "-c" "vault login -method=aws role=ci"]
azurerm_key_vault_secret.db: Refreshing state... [id=https://acme.vault.azure.net/secrets/db-password/«hex32»]
google_secret_manager_secret.token: Refreshing state... [id=projects/acme-42/secrets/token]
kubernetes_secret.agent: Refreshing state... [id=scalr-agent/scalr-agent-token]
vault_generic_secret.db: RedactionPass... [id=secret/data/db]
module.eks.aws_eks_cluster.this[0]: Still creating... [10m20s elapsed]
Plan: 3 to add, 1 to change, 0 to destroy.
Error: Invalid reference: A reference to a resource type must be followed by at least one attribute access, specifying the resource name. password = random_password
Error: Missing required argument: The argument "token" is required, but no definition was found.
Error: Invalid value for variable: password must have at least 12 characters.
│ Error: Reference to undeclared input variable: An input variable with the name "db_password" has not been declared.
│   12:   token = var.scalr_token
│     │ var.db_password has a sensitive value
│ Error: error reading token: open /var/run/secrets/token: no such file or directory
  password               = random_password.db.result
  token                  = data.aws_eks_cluster_auth.this.token
  cluster_ca_certificate = base64decode(data.aws_eks_cluster.this.certificate_authority[0].data)
  client_secret          = azuread_application_password.app.value
  secret_id              = aws_secretsmanager_secret.db.id
  private_key            = file("~/.ssh/id_rsa")
  api_key                = local.secrets["datadog"]
  token                  = try(var.tokens[each.key], null)
  access_key             = lookup(local.credentials, "access_key", null)
  + password             = (sensitive value)
  + kms_key_id           = (known after apply)
  + key_name             = "bastion"
  + secret_arn           = "arn:aws:secretsmanager:eu-west-1:123456789012:secret:db-«b62-6»"
  + public_key           = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBoiT3«b62-36» bob@host"
  + key_usage            = "SIGN_VERIFY"
  + password_length      = 20
  + require_password     = true
  + token_validity_units = {}
      secretKeyRef:
        name: scalr-agent-token
        key: token
  secretName: agent-tls
  imagePullSecrets: [{name: regcred}]
  resourceVersion: "«digits9»"
  uid: «uuid»
  generateName: scalr-agent-«rs»-
  pod-template-hash: «rs»
  checksum/secret: «hex64»
  containerID: containerd://«hex64»
  imageID: docker.io/scalr/agent@sha256:«hex64»
  nodeName: ip-10-0-1-23.eu-west-1.compute.internal
  serviceAccountName: scalr-agent
  automountServiceAccountToken: true
  eks.amazonaws.com/role-arn: arn:aws:iam::123456789012:role/scalr-agent
  AWS_WEB_IDENTITY_TOKEN_FILE:   /var/run/secrets/eks.amazonaws.com/serviceaccount/token
  SCALR_AGENT_TOKEN:             <set to the key 'token' in secret 'scalr-agent-token'>  Optional: false
    TokenExpirationSeconds:  3607
Mountable secrets:   scalr-agent-dockercfg-«lower5»
Tokens:              scalr-agent-token-«lower5»
Image pull secrets:  <none>
scalr-agent-token                    Opaque                                1      12d
sh.helm.release.v1.scalr-agent.v3    helm.sh/release.v1                    1      12d
default-token-«lower5»                  kubernetes.io/service-account-token   3      40d
NAME                           READY   STATUS    RESTARTS        AGE
«pod»   1/1     Running   3 (2d11h ago)   12d
Warning  FailedMount  2m (x12 over 20m)  kubelet  MountVolume.SetUp failed for volume "agent-tls" : references non-existent secret key: tls.key
Warning  Failed       2m                 kubelet  Error: couldn't find key token in Secret scalr-agent/scalr-agent-token
Warning  FailedToRetrieveImagePullSecret  kubelet  Unable to retrieve some image pull secrets (regcred); attempting to pull the image may not succeed.
Normal   SuccessfulCreate  job/atask-«lower5»  Created pod: atask-«lower5»-«lower5»
Error from server (Forbidden): secrets is forbidden: User "bob" cannot list resource "secrets" in API group "" in the namespace "scalr-agent"
Error from server (BadRequest): token review failed: unauthorized
error: You must be logged in to the server (the server has asked for the client to provide credentials)
Unable to connect to the server: getting credentials: exec: executable aws failed with exit code 255
Unable to connect to the server: x509: certificate signed by unknown authority (possibly because of "crypto/rsa: verification error" while trying to verify candidate authority certificate "kubernetes")
Error: INSTALLATION FAILED: cannot re-use a name that is still in use
Error: execution error at (agent-local/templates/secret.yaml:3:6): agent.token is required
coalesce.go:286: warning: cannot overwrite table with non table for agent-local.agent.token (map[])
walk.go:75: found symbolic link in path: /charts/agent-local resolves to /charts/agent. Contents of linked file included and used
Traceback (most recent call last):
  File "/usr/lib/python3.12/site-packages/requests/adapters.py", line 667, in send
    raise InvalidToken(f"token {self.token_name!r} is not valid for {host}")
    self._token = self._fetch_token(client_id=client_id, client_secret=client_secret)
    password = getpass.getpass(prompt="Password: ")
    return self.request(method, url, headers={"Authorization": f"Bearer {token}"})
    api_key = os.environ.get("API_KEY")
    secret = config["secret"]
KeyError: 'API_TOKEN'
ValueError: invalid literal for int() with base 10: 'token'
jwt.exceptions.ExpiredSignatureError: Signature has expired
jwt.exceptions.InvalidSignatureError: Signature verification failed
cryptography.fernet.InvalidToken
urllib3.exceptions.ProxyError: ('Unable to connect to proxy', OSError('Tunnel connection failed: 407 Proxy Authentication Required'))
json.decoder.JSONDecodeError: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)
SyntaxError: Unexpected token '<', "<!DOCTYPE "... is not valid JSON
SyntaxError: Unexpected token u in JSON at position 0
yaml: line 12: found character that cannot start any token
error parsing token: unexpected end of JSON input
lexer error: unexpected token: EOF
parse error near token: ')'
unexpected token: identifier
goroutine 1 [running]:
main.(*Client).RefreshToken(0xc0001a2b40, {0x1a2b3c4, 0x2b})
	/src/internal/auth/token.go:123 +0x1d5
github.com/scalr/agent/internal/auth.(*TokenSource).Token(...)
	/go/pkg/mod/golang.org/x/oauth2@v0.21.0/transport.go:45 +0xa2
java.lang.IllegalStateException: Failed to load ApplicationContext for [WebMergedContextConfiguration@«hex7» testClass = com.acme.TokenTest]
	at org.springframework.security.oauth2.core.OAuth2TokenValidator.validate(OAuth2TokenValidator.java:42) ~[spring-security-oauth2-core-6.3.0.jar!/:6.3.0]
	at com.acme.PasswordEncoder$$FastClassBySpringCGLIB$$«hex7».invoke(<generated>)
Caused by: javax.crypto.BadPaddingException: Given final block not properly padded. Such issues can arise if a bad key is used during decryption.
npm error code E401
npm error Incorrect or missing password.
npm error If you were trying to login, change your password, create an authentication token or enable two-factor authentication then
    "integrity": "sha512-«b64-86»==",
    "resolved": "https://registry.npmjs.org/js-tokens/-/js-tokens-4.0.0.tgz",
added 812 packages, and audited 813 packages in 12s
go: downloading golang.org/x/oauth2 v0.21.0
golang.org/x/crypto v0.24.0 h1:«b64-43»=
Collecting PyJWT==2.8.0 (from -r requirements.txt (line 4))
  Downloading PyJWT-2.8.0-py3-none-any.whl.metadata (4.2 kB)
Digest: sha256:«hex64»
Status: Downloaded newer image for scalr/agent:0.42.0
«hex12»: Pull complete
#12 [build 4/9] RUN --mount=type=secret,id=npmrc,target=/root/.npmrc npm ci
#12 sha256:«hex64» 28.23MB / 28.23MB 1.2s done
Nov 21 10:00:07 host systemd[1]: Started scalr-agent.service - Scalr agent.
Nov 21 10:00:07 host sshd[2341]: Accepted publickey for bob from 10.0.1.23 port 51234 ssh2: ED25519 SHA256:«b64-43»
Nov 21 10:00:07 host sshd[2341]: Failed password for invalid user admin from 10.0.1.23 port 51234 ssh2
Nov 21 10:00:07 host sudo:      bob : TTY=pts/0 ; PWD=/home/bob ; USER=root ; COMMAND=/usr/bin/systemctl restart scalr-agent
Nov 21 10:00:07 host kernel: audit: type=1400 audit(1795255207.123:42): apparmor="DENIED" operation="open" profile="docker-default" name="/proc/keys" pid=2341 comm="python"
Nov 21 10:00:07 host dockerd[812]: time="2026-11-21T10:00:07.123456789Z" level=info msg="ignoring event" container=«hex64» module=libcontainerd namespace=moby topic=/tasks/delete type="*events.TaskDelete"
Nov 21 10:00:07 host cloud-init[812]: ci-info: | Authorized keys from /home/ec2-user/.ssh/authorized_keys for user ec2-user |
machine-id: «hex32» boot-id: «uuid»
MachineID: «hex32»
SystemUUID: «uuid»
[Service] EnvironmentFile=/etc/scalr-agent/token.env
PASS: test/auth.test.ts (12 tests)
ok  	github.com/scalr/agent/internal/auth	0.412s
--- FAIL: TestTokenRefresh (0.01s)
    token_test.go:42: token: got "", want non-empty
✓ refuses a token without a host (3 ms)
Check: CKV_SECRET_6: "Base64 High Entropy String"
Check: CKV_AWS_149: "Ensure that Secrets Manager secret is encrypted using KMS CMK"
	FAILED for resource: aws_secretsmanager_secret.db
level=info msg="token lookup" policies=[default agent] ttl=768h0m0s renewable=true
Key                  Value
token_duration       768h
token_renewable      true
token_policies       ["default" "agent"]
lease_id             auth/aws/login/«hex64»
2026-11-21T10:00:07.123Z [INFO]  agent.auth.handler: authentication successful, sending token to sinks
2026-11-21T10:00:07.123Z [INFO]  agent.sink.file: token written: path=/home/vault/.vault-token
2026-11-21T10:00:07.123Z [ERROR] agent.auth.handler: error authenticating: error="Error making API request. Code: 400. Errors: * missing client token" backoff=1s
Error authenticating: error looking up token: Get "https://vault.vault.svc:8200/v1/auth/token/lookup-self": dial tcp: lookup vault.vault.svc: no such host
No value found at secret/data/db
secret/data/db: permission denied
path "secret/data/*" { capabilities = ["read"] }
ssh-keygen: generating public/private ed25519 key pair.
The key fingerprint is: SHA256:«b64-43» bob@host
MD5 fingerprint: 3c:9a:4e:17:b0:d2:6f:58:e1:a9:7c:40:d3:b8:f6:25
        Serial Number: 03:9a:4e:17:b0:d2:6f:58:e1:a9:7c:40:d3:b8:f6:25:11:7c
        X509v3 Subject Key Identifier: 3C:9A:4E:17:B0:D2:6F:58:E1:A9:7C:40:D3:B8:F6:25:6A:0E:4D:91
* SSL connection using TLSv1.3 / TLS_AES_256_GCM_SHA384 / X25519 / RSASSA-PSS
*  subject: CN=*.scalr.io  start date: Sep  3 08:12:11 2026 GMT  expire date: Dec  2 08:12:10 2026 GMT
* Server auth using Basic with user 'bob'
* Connection #0 to host acme.scalr.io left intact
> User-Agent: curl/8.5.0
< HTTP/1.1 401 Unauthorized
Password:
Enter password: 
Token (will be hidden):
password: ********
token=***
token: [MASKED]
secret: <redacted>
Authorization: Bearer ***
Authorization: <hidden>
api_key: null
apiKey: ""
password=
token = None
using token from environment variable SCALR_TOKEN
using password from stdin
reading secret from file /etc/scalr/token
password was not set, generating a new one
token is valid until 2026-11-21T11:00:00Z
the secret has been rotated by bob
key not found: token
no such key: credentials
missing credentials: set AWS_PROFILE or AWS_ACCESS_KEY_ID
auth: token required
auth: no credentials found for registry.example.com
credential helper: osxkeychain
secret: not found
secret: permission denied
token: expired
token: signature is invalid
token: unauthorized client
password: must contain at least one digit
password: cannot be blank
Error: token: context deadline exceeded (Client.Timeout exceeded while awaiting headers)
cause: error refreshing token: connection refused
session: created for bob
cookie: domain mismatch
signature: verified with key «hexup16»
gpg: Signature made Sat 21 Nov 2026 10:00:07 AM UTC
gpg:                using RSA key «hexup40»
gpg: Good signature from "Acme <security@example.com>" [unknown]
key: value pairs are separated by "="
sort key=name primary key=id partition_key=tenant cache_key=linux-amd64 key=42
hotkeys: press q to quit, key=ctrl+c
foreign key constraint "fk_user_tokens" of table "tokens" violates not-null constraint
DETAIL:  Key (token_id)=(42) is not present in table "tokens".
LOG:  statement: SELECT id, token_hash FROM api_tokens WHERE account_id = $1
SELECT "users"."id", "users"."password_digest" FROM "users" WHERE "users"."email" = $1 LIMIT $2
CREATE TABLE tokens (id bigint PRIMARY KEY, secret text NOT NULL, created_at timestamptz);
ALTER TABLE users ADD COLUMN password_reset_token varchar(255);
KEY idx_token (token), CONSTRAINT fk_secret FOREIGN KEY (secret_id) REFERENCES secrets (id)
authentication via oidc: issuer=https://acme.okta.com audience=scalr subject=repo:acme/infra:ref:refs/heads/main
oidc token issuer https://token.actions.githubusercontent.com, thumbprint «hex40»
##[debug]Evaluating condition for step: 'Get token'
Run actions/checkout@v4 with: repository: acme/infra, token: ***, ssh-strict: true, persist-credentials: true
::add-mask::***
[command]/usr/bin/git config --local --unset-all http.https://github.com/.extraheader
Resolved credentials path "/home/runner/work/_temp/«uuid».json"
Downloading module github.com/acme/terraform-secrets?ref=«hex40»
cache hit for key: Linux-node-«hex64»
Cache restored from key: terraform-«hex40»
File "/agent/tacoagent/token_store.py" is 1234 bytes
copy modules/vault-token-renewer/main.tf -> .terraform/modules/token/main.tf
-rw-r--r-- 1 root root  1704 Nov 21 10:00 tls.key
drwxrwxrwt 3 root root   100 Nov 21 10:00 ..data -> ..2026_11_21_10_00_07.«digits9»
lrwxrwxrwx 1 root root    12 Nov 21 10:00 token -> ..data/token
configmap/kube-root-ca.crt unchanged; secret/scalr-agent-token configured
W: Target Packages (main/binary-amd64/Packages) is configured multiple times
processed 12 tokens in 3ms; token bucket refill rate=10/s burst=20
rate limiter: waited 1.2s due to client-side throttling, not priority and fairness, request: GET:https://10.96.0.1:443/apis/external-secrets.io/v1beta1?timeout=32s
feature gate: LegacyServiceAccountTokenNoAutoGeneration=true ServiceAccountTokenJTI=true
--service-account-private-key-file=/var/lib/minikube/certs/sa.key --bootstrap-token-auth=true --token-auth-file=
--authorization-mode=Node,RBAC --tls-private-key-file=/etc/kubernetes/pki/apiserver.key --secure-port=6443
Usage of agent: --token string   Agent pool token (env SCALR_AGENT_TOKEN)
  -p, --password string   Password or personal access token
      --password-stdin    Take the password from stdin
  --token-secret NAME   Secret that contains the agent pool token
Flag --token has been deprecated, use --token-file instead
error: required flag(s) "token" not set
unknown flag: --pasword. Did you mean --password?
{"errors":[{"status":"401","title":"Unauthorized","detail":"Invalid or expired token"}]}
{"message":"Bad credentials","documentation_url":"https://docs.github.com/rest","status":"401"}
{"error":"invalid_grant","error_description":"AADSTS7000215: Invalid client secret provided. Ensure the secret being sent in the request is the client secret value, not the client secret ID, for a secret added to app '«uuid»'. Trace ID: «uuid» Correlation ID: «uuid» Timestamp: 2026-11-21 10:00:07Z"}
{"code":"UNAUTHORIZED","message":"authentication required","detail":[{"Type":"repository","Class":"","Name":"scalr/agent","Action":"pull"}]}
{"grant_type":"client_credentials","token_endpoint":"https://acme.okta.com/oauth2/v1/token","token_endpoint_auth_method":"client_secret_post"}
{"type":"service_account","auth_uri":"https://accounts.google.com/o/oauth2/auth","token_uri":"https://oauth2.googleapis.com/token"}
{"spec":{"secretName":"x","issuerRef":{"name":"letsencrypt"},"privateKey":{"algorithm":"ECDSA","rotationPolicy":"Always"}}}
{"tokenExistingSecret":{"name":"scalr-agent-token","key":"token"},"hasToken":true,"tokens":3,"secrets":["a","b"]}
{"password_set":true,"has_password":false,"passwordRequired":true,"password_changed_at":"2026-11-21T10:00:00Z"}
{"metrics":{"auth_failures":0,"token_errors":2,"cookies":0,"sessions":14,"signature_checks":3}}
{"sessionAffinity":"None","sessionTimeout":"30m","cookieSameSite":"Lax","authEnabled":true,"authProvider":"okta"}
{"checksum":"crc32c:«b64-6»==","md5Hash":"«b64-22»==","generation":"1795255207123456","etag":"CJ+«b62-6»AhAB"}
{"nonce_count":1,"snapshot":"snap-«hex17»","volume":"vol-«hex17»","ami":"ami-«hex17»","eni":"eni-«hex17»"}
objectRef={Kind:Secret Namespace:scalr-agent Name:scalr-agent-token UID: APIVersion:v1 ResourceVersion: FieldPath:}
&Secret{ObjectMeta:{scalr-agent-token  scalr-agent  «uuid» 1234 0 2026-11-21 10:00:07 +0000 UTC <nil> <nil> map[] map[] [] [] []},Data:map[string][]byte{},Type:Opaque}
[{Name:scalr-agent-token Key:token Optional:false}] secretRef={Name:regcred}
ERROR: column "token" does not exist at character 8
Warning: Permanently added 'github.com' (ED25519) to the list of known hosts.
The authenticity of host 'github.com (140.82.121.4)' can't be established.
https://docs.scalr.io/docs/service-accounts#token https://kubernetes.io/docs/concepts/configuration/secret/
s3://acme-state/env:/prod/terraform.tfstate?versionId=«b62-32»
arn:aws:iam::123456789012:user/ci arn:aws:kms:eu-west-1:123456789012:key/«uuid»
projects/acme-42/locations/global/keyRings/agents/cryptoKeys/token/cryptoKeyVersions/1
/subscriptions/«uuid»/resourceGroups/acme/providers/Microsoft.KeyVault/vaults/acme/secrets/token
deployment.apps/scalr-agent-controller condition met; replicaset/scalr-agent-«rs» scaled to 1
CONTAINER ID   IMAGE                COMMAND                  CREATED       STATUS
«hex12»   scalr/agent:0.42.0   "/usr/bin/tini -- sc…"   2 hours ago   Up 2 hours
opened /var/lib/docker/overlay2/«hex64»/merged/etc/ssl/certs
/var/lib/kubelet/pods/«uuid»/volumes/kubernetes.io~secret/agent-token: no such file or directory
/usr/lib/x86_64-linux-gnu/libstdc++.so.6: version 'GLIBCXX_3.4.32' not found (required by /opt/agent/lib/_cffi_backend.cpython-312-x86_64-linux-gnu.so)
Loaded plugin com.acme.security.authentication.JwtAuthenticationTokenConverterAutoConfiguration
AbstractAuthenticationProcessingFilterConfigurerAdapterFactoryBean2 initialized
[main] INFO o.s.s.w.DefaultSecurityFilterChain - Will secure any request with filters: DisableEncodeUrlFilter, WebAsyncManagerIntegrationFilter, SecurityContextHolderFilter
WARN  token-exchange: subject_token_type=urn:ietf:params:oauth:token-type:jwt requested_token_type=urn:ietf:params:oauth:token-type:access_token
DEBUG retry 3/5 in 1.2s (reason=token_not_ready, backoff=exponential, jitter=0.2)
metrics: process_start_time_seconds 1.79525520712e+09 go_gc_duration_seconds{quantile="0.99"} 0.000123456
workqueue_depth{controller="secret-rotation",name="tokens"} 0 # TYPE token_requests_total counter
apiserver_request_total{code="200",resource="secrets",scope="namespace",subresource="token",verb="CREATE"} 1234
`;

const hex = '0123456789abcdef';
const lower = 'bcdfghjklmnpqrstvwxz2456789';
const base64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
/** Letters of an identifier, by its kind. */
const ALPHABETS: Readonly<Record<string, string>> = {
  hex,
  hexup: hex.toUpperCase(),
  lower,
  digits: '123456789',
  upper: 'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789',
  'b62-': base64,
  'b64-': `${base64}+/`,
  'b64url-': `${base64}-_`,
};

/** Every line with identifiers three times, each time with other ones. */
export function ordinaryLines(): string[] {
  const random = randomOf(42);
  const text = (length: number, of: string): string =>
    Array.from({length}, () => of[random(of.length)] as string).join('');
  const identifier = (kind: string): string => {
    if (kind === 'uuid') return [8, 4, 4, 4, 12].map((length) => text(length, hex)).join('-');
    if (kind === 'rs') return text(10, lower);
    if (kind === 'pod') return `scalr-agent-${text(10, lower)}-${text(5, lower)}`;
    if (kind === 'scalr') return `v0o${text(14, `${lower}013`)}`;
    const [, name = '', length = ''] =
      /^(\D+?)(\d+)$/.exec(kind.replace(/^(b6[24](?:url)?-)/, (all) => all)) ?? [];
    const [, of = name, size = length] = /^(b6[24](?:url)?-)(\d+)$/.exec(kind) ?? [];
    return text(Number(size), ALPHABETS[of] as string);
  };
  return LINES.trim()
    .split('\n')
    .flatMap((line) =>
      Array.from({length: line.includes('«') ? 3 : 1}, () =>
        line.replace(/«([\w-]+)»/g, (_, kind: string) => identifier(kind)),
      ),
    );
}
