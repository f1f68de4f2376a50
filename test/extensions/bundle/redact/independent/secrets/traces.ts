import {shapes} from './shapes.ts';

/** TF_LOG=TRACE: requests and answers of providers, and what the core says about them. */
export const traces = shapes(
  'TF_LOG traces, provider bodies',
  String.raw`
HTTP Request Sent: aws.region={region} http.request.header.authorization="AWS4-HMAC-SHA256 Credential={akid}/20261124/{region}/rds/aws4_request, SignedHeaders=host;x-amz-date, Signature={signature}" http.method=POST
HTTP Request Sent: http.request.body="Action=CreateDBInstance&DBInstanceIdentifier={app}&MasterUserPassword={password|url}&MasterUsername={user}&Version=2014-10-31" http.method=POST
  http.request.body=⏎  | Action=ModifyDBInstance&DBInstanceIdentifier={app}&MasterUserPassword={password|url}&Version=2014-10-31
  http.request.body=⏎  | {"Name":"/{app}/db/password","Type":"SecureString","Value":"{password|gojson}"}
  http.request.body=⏎  | {"ClientRequestToken":"{id}","SecretId":"{app}","SecretString":"{password|gojson}"}
  http.response.body=⏎  | {"ARN":"arn:aws:secretsmanager:{region}:{account}:secret:{app}","SecretString":"{\"password\":\"{password|json|json}\",\"username\":\"{user}\"}","VersionId":"{id}"}
  http.response.body=⏎  | <AccessKey><UserName>ci</UserName><AccessKeyId>{akid}</AccessKeyId><Status>Active</Status><SecretAccessKey>{awsSecret}</SecretAccessKey></AccessKey>
  http.response.body=⏎  | {"Credentials":{"AccessKeyId":"{asia}","Expiration":1.79E9,"SecretKey":"{awsSecret}","SessionToken":"{awsSession}"},"IdentityId":"{region}:{id}"}
<AssumeRoleResult><Credentials><AccessKeyId>{asia}</AccessKeyId><SecretAccessKey>{awsSecret}</SecretAccessKey><SessionToken>{awsSession}</SessionToken></Credentials></AssumeRoleResult>
Action=AssumeRoleWithWebIdentity&RoleArn=arn%3Aaws%3Aiam%3A%3A{account}%3Arole%2Fci&RoleSessionName=scalr&Version=2011-06-15&WebIdentityToken={oidcToken}
http.request.header.x_amz_security_token="{awsSession}" http.request_content_length=0
X-Amz-Security-Token: {awsSession}
{"authorizationData":[{"authorizationToken":"{dockerAuth}","expiresAt":1.79E9,"proxyEndpoint":"https://{account}.dkr.ecr.{region}.amazonaws.com"}]}
{"Parameter":{"ARN":"arn:aws:ssm:{region}:{account}:parameter/{app}","DataType":"text","Name":"/{app}/db/password","Type":"SecureString","Value":"{password|gojson}","Version":1}}
{"Parameters":[{"Name":"/{app}/api","Type":"SecureString","Value":"{alnum40}"}]}
{"Environment":{"Variables":{"DB_PASSWORD":"{password|gojson}","STAGE":"prod"}},"FunctionName":"{app}"}
{"containerDefinitions":[{"environment":[{"name":"API_SECRET","value":"{alnum32}"}],"image":"{app}:1"}],"family":"{app}"}
{"Plaintext":"{base64of32}","KeyId":"arn:aws:kms:{region}:{account}:key/{id}","CiphertextBlob":"AQIDAHh"}
<UserData>{passphrase|b64}</UserData>
<CacheCluster><AuthTokenEnabled>true</AuthTokenEnabled><AuthToken>{alnum32}</AuthToken></CacheCluster>
<PreSharedKey>{alnum32}</PreSharedKey>
<pre_shared_key>{alnum32}</pre_shared_key>
---[ REQUEST ]---------------------------------------⏎POST /oauth2/v4/token HTTP/1.1⏎Host: oauth2.googleapis.com⏎Content-Type: application/x-www-form-urlencoded⏎⏎assertion={jwt}&grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer
---[ RESPONSE ]--------------------------------------⏎HTTP/2.0 200 OK⏎⏎{⏎  "access_token": "{gcpAccessToken}",⏎  "expires_in": 3599,⏎  "token_type": "Bearer"⏎}
 "rootPassword": "{password|gojson}",⏎ "region": "europe-west1",
{⏎ "kind": "sql#user",⏎ "name": "{user}",⏎ "password": "{password|gojson}"⏎}
{⏎ "payload": {⏎  "data": "{password|b64}",⏎  "dataCrc32c": "3131546734"⏎ }⏎}
{⏎ "name": "projects/{app}/serviceAccounts/ci/keys/{sha}",⏎ "privateKeyData": "{kubeconfigKey}",⏎ "privateKeyType": "TYPE_GOOGLE_CREDENTIALS_FILE"⏎}
 "masterAuth": {⏎  "clientKey": "{kubeconfigKey}",⏎  "username": "admin",⏎  "password": "{alnum16}"⏎ }
{"refresh_token":"{gcpRefreshToken}","client_secret":"{googleClientSecret}","grant_type":"refresh_token"}
client_id={account}.apps.googleusercontent.com&client_secret={googleClientSecret}&grant_type=refresh_token&refresh_token={gcpRefreshToken|url}
X-Goog-Api-Key: {gcpApiKey}
GET https://maps.googleapis.com/maps/api/geocode/json?address=x&key={gcpApiKey}
AzureRM Request: ⏎POST /{id}/oauth2/v2.0/token HTTP/1.1⏎Host: login.microsoftonline.com⏎⏎client_id={id}&client_secret={azureSecret|url}&grant_type=client_credentials&scope=https%3A%2F%2Fmanagement.azure.com%2F.default
AzureRM Response: ⏎{"token_type":"Bearer","expires_in":3599,"access_token":"{azureAccessToken}"}
AzureRM Response for https://management.azure.com/subscriptions/{id}/resourceGroups/rg/providers/Microsoft.Storage/storageAccounts/st/listKeys?api-version=2021-09-01:⏎{"keys":[{"keyName":"key1","value":"{azureStorageKey}","permissions":"FULL"},{"keyName":"key2","value":"{azureStorageKey#2}","permissions":"FULL"}]}
{"primaryMasterKey":"{azureCosmosKey}","secondaryMasterKey":"{azureCosmosKey#2}"}
{"primaryKey":"{azureSharedKey}","primaryConnectionString":"Endpoint=sb://{app}.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey={azureSharedKey}"}
{"kubeconfigs":[{"name":"clusterAdmin","value":"{kubeconfigKey}"}]}
{"properties":{"administratorLogin":"{user}","administratorLoginPassword":"{password|gojson}","version":"15"}}
{"properties":{"osProfile":{"adminUsername":"azureuser","adminPassword":"{password|gojson}","customData":"{passphrase|b64}"}}}
{"id":"https://{app}.vault.azure.net/secrets/db/{hexid}","value":"{password|gojson}","attributes":{"enabled":true}}
{"secretText":"{azureSecret}","hint":"abc","keyId":"{id}"}
{"passwordCredential":{"displayName":"ci","secretText":"{azureSecret}"}}
{"username":"acr","passwords":[{"name":"password","value":"{base64of32}"},{"name":"password2","value":"{base64of32#2}"}]}
{"properties":{"DB_PASSWORD":"{password|gojson}","WEBSITE_RUN_FROM_PACKAGE":"1"}}
x-ms-authorization-auxiliary: Bearer {azureAccessToken}
Authorization: SharedKey st{short}:{azureSharedKey}
Authorization: Bearer {jwt}
Authorization: Bearer {hex40}
Authorization: Token {alnum40}
Authorization: Basic {basic}
Authorization: GenieKey {uuid}
Authorization: SSWS {oktaToken}
authorization: token {githubPat}
Private-Token: {gitlabPat}
PRIVATE-TOKEN: {alnum20}
X-Vault-Token: {vaultToken}
X-Vault-Token: {vaultOldToken}
X-Consul-Token: {uuid}
X-Nomad-Token: {uuid}
X-Api-Key: {alnum32}
X-Auth-Token: {hex32}
X-Auth-Key: {cloudflareKey}⏎X-Auth-Email: ops@{domain}
Dd-Api-Key: {datadogKey}⏎Dd-Application-Key: {datadogAppKey}
DD-API-KEY: {datadogKey}
Api-Key: {newRelicKey}
X-Insert-Key: {newRelicKey}
Cookie: session={cookie}; Path=/
Set-Cookie: JSESSIONID={hex32}; Path=/; HttpOnly
Set-Cookie: grafana_session={hex32}; Max-Age=2592000
X-Rundeck-Auth-Token: {alnum32}
Circle-Token: {hex40}
X-JFrog-Art-Api: {artifactoryKey}
Proxy-Authorization: Basic {basic}
> X-Gitlab-Token: {alnum24}
{"auth":{"client_token":"{vaultToken}","accessor":"{reference}","policies":["default"],"lease_duration":3600}}
{"request_id":"{id}","lease_id":"database/creds/{app}/{reference}","data":{"password":"{password|gojson}","username":"v-token-{app}-{reference}"}}
{"data":{"data":{"password":"{password|gojson}"},"metadata":{"version":3}}}
{"data":{"secret_id":"{uuid}","secret_id_accessor":"{id}"}}
{"role_id":"{id}","secret_id":"{uuid}"}
{"data":{"keys":["{hex64}"],"keys_base64":["{base64of32}"],"root_token":"{vaultToken}"}}
{"jwt":"{k8sToken}","role":"{app}"}
{"apiVersion":"v1","data":{"password":"{password|b64}","username":"YWRtaW4="},"kind":"Secret","metadata":{"name":"db","namespace":"{ns}"},"type":"Opaque"}
{"apiVersion":"v1","kind":"Secret","stringData":{"api-token":"{alnum40}"},"metadata":{"name":"{app}"}}
{"kind":"ConfigMap","apiVersion":"v1","data":{"config.yaml":"db:\n  password: {alnumPassword}\n"}}
Request Body: {"spec":{"template":{"spec":{"containers":[{"name":"{app}","env":[{"name":"DB_PASSWORD","value":"{password|gojson}"}]}]}}}}
{"kind":"TokenRequest","status":{"token":"{k8sToken}","expirationTimestamp":"{ts}"}}
curl -v -XGET -H "Authorization: Bearer {k8sToken}" -H "Accept: application/json" 'https://{ip}:6443/api/v1/namespaces/{ns}/pods'
{"release":"{gzipped}"}
{"token":"{githubApp}","expires_at":"{ts}","permissions":{"contents":"read"}}
{"value":"{alnum32}","key":"DEPLOY_TOKEN","protected":true,"masked":true}
{"id":{num},"name":"ci","token":"{gitlabPat}","scopes":["api"]}
{"runners_token":"{gitlabOldRunner}","id":{num}}
{"name":"{app}","config":{"url":"https://ci.{domain}/hook","secret":"{hex40}","content_type":"json"}}
{"result":{"id":"{hexid}","value":"{cloudflareToken}"},"success":true}
{"api_key":{"key":"{datadogKey}","name":"ci"}}
{"user":{"login":"{user}","password":"{password|gojson}"}}
{"login":{"password":"{password|gojson}","username":"{user}"}}
{"auth":{"identity":{"methods":["password"],"password":{"user":{"name":"{user}","domain":{"id":"default"},"password":"{password|gojson}"}}}}}
{"username":"{user}","password":"{hardPassword|gojson}"}
{"access_token":"{alnum64}","refresh_token":"{alnum64#2}","expires_in":3600}
{"id_token":"{jwt}","token_type":"Bearer"}
{"sessionToken":"{alnum40}","status":"SUCCESS"}
{"serial":"{num}","clientSecret":"{url64}","clientId":"{reference}"}
{"client_id":"{reference}","client_secret":"{url64}","audience":"https://{domain}/api/v2/","grant_type":"client_credentials"}
grant_type=password&username={user}&password={password|url}&client_id=admin-cli
grant_type=authorization_code&code={url32}&code_verifier={url32#2}&redirect_uri=http%3A%2F%2Flocalhost
<wsse:Password Type="PasswordText">{password|html}</wsse:Password>
<Login xmlns="urn:vim25"><userName>{user}</userName><password>{password|html}</password></Login>
vmware_soap_session="{hex40}"; Path=/; HttpOnly
provider.terraform-provider-aws: Configuring Terraform AWS Provider: access_key={akid} secret_key={awsSecret} region={region}
GRPCProvider: Configure: config=cty.ObjectVal(map[string]cty.Value{"password":cty.StringVal("{password|gojson}"), "username":cty.StringVal("{user}")})
ReferenceTransformer: attribute value: cty.StringVal("{hex40}")
planned: cty.ObjectVal(map[string]cty.Value{"auth_token":cty.StringVal("{alnum32}"), "port":cty.NumberIntVal(6379)})
Meta.Backend: backend config: {"access_key":"{akid}","bucket":"{bucket}","secret_key":"{awsSecret}"}
CLI args: []string{"terraform", "plan", "-var", "db_password={alnumPassword}"}
CLI command args: []string{"init", "-backend-config=access_key={azureStorageKey}"}
Calling provider defined Resource Create: tf_provider_addr=registry.terraform.io/hashicorp/random @module=sdk.framework result={alnum24}
Value switched to prior value due to semantic equality logic: tf_attribute_path=password value="{password|gojson}"
mark planned: .secret_string: was cty.StringVal("{alnum32}"), but now cty.StringVal("{alnum32#2}")
      - .password: planned value cty.StringVal("{password|gojson}") for a non-computed attribute
      - .triggers["token"]: new element "{alnum32}" has appeared
executing query: ALTER ROLE "{user}" WITH PASSWORD '{password}'
Executing statement: CREATE USER '{user}'@'%' IDENTIFIED BY '{password}'
Exec: CREATE LOGIN [{user}] WITH PASSWORD = N'{password}', CHECK_POLICY = OFF
SET PASSWORD FOR '{user}'@'%' = '{password}'
[DEBUG] ssh: auth password={alnumPassword} host={ip}:22 user={user}
http.request.body="{\"password\":\"{password|gojson|json}\",\"username\":\"{user}\"}" tf_http_op_type=request
Sending HTTP Request: Authorization="Bearer {alnum40}" Host=api.{domain} User-Agent="Terraform/{version}"
request.headers={Accept:[application/json] Authorization:[Bearer {hex64}] User-Agent:[Terraform]}
(limit)   http.response.body=⏎  | {alnum32}
(limit)   http.response.body=⏎  | {humanPassword}
(limit) [TRACE] hash input: {base64of24}
(limit) {"id":"{alnum24}","object":"resource"}
(limit) | {"data":"{alnum20}"}
`,
);
