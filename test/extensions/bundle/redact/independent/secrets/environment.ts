import {shapes} from './shapes.ts';

/** `env`, .env files, INI, TOML, properties, XML and tfvars. */
export const environment = shapes(
  'env and config dumps',
  String.raw`
DB_PASSWORD={password}
DATABASE_PASSWORD="{password}"
POSTGRES_PASSWORD={password}
MYSQL_ROOT_PASSWORD={password}
REDIS_PASSWORD={alnum32}
RABBITMQ_DEFAULT_PASS={humanPassword}
AWS_SECRET_ACCESS_KEY={awsSecret}
AWS_ACCESS_KEY_ID={akid}⏎AWS_SECRET_ACCESS_KEY={awsSecret}⏎AWS_SESSION_TOKEN={awsSession}
AWS_SECURITY_TOKEN={awsSession}
ARM_CLIENT_SECRET={azureSecret}
ARM_ACCESS_KEY={azureStorageKey}
ARM_SAS_TOKEN=?sv=2022-11-02&ss=b&srt=sco&sp=rwl&sig={azureSharedKey|url}
AZURE_STORAGE_CONNECTION_STRING=DefaultEndpointsProtocol=https;AccountName=st;AccountKey={azureStorageKey};EndpointSuffix=core.windows.net
AZURE_DEVOPS_EXT_PAT={azureDevopsPat}
AZDO_PERSONAL_ACCESS_TOKEN={azureDevopsPat}
GOOGLE_CREDENTIALS={"type":"service_account","private_key":"{pkcs8Key|json}\n","client_email":"ci@{app}.iam.gserviceaccount.com"}
GOOGLE_OAUTH_ACCESS_TOKEN={gcpAccessToken}
GITHUB_TOKEN={githubPat}
GH_TOKEN={githubFine}
GITLAB_TOKEN={gitlabPat}
CI_JOB_TOKEN={gitlabJob}
CI_JOB_JWT_V2={jwt}
BITBUCKET_APP_PASSWORD={bitbucketApp}
VAULT_TOKEN={vaultToken}
VAULT_SECRET_ID={uuid}
CONSUL_HTTP_TOKEN={uuid}
CONSUL_HTTP_AUTH={user}:{alnumPassword}
NOMAD_TOKEN={uuid}
TFE_TOKEN={tfcToken}
TF_TOKEN_app_terraform_io={tfcToken}
TF_TOKEN_scalr_io={scalrToken}
SCALR_TOKEN={scalrToken}
SCALR_AGENT_TOKEN={scalrToken}
TF_VAR_db_password={password}
TF_VAR_datadog_api_key={datadogKey}
TF_VAR_credentials={"user":"{user}","pass":"{password|json}"}
TF_CLI_ARGS_plan=-var=db_password={alnumPassword}
TF_HTTP_PASSWORD={gitlabPat}
PG_CONN_STR=postgres://{user}:{alnumPassword}@{host}/terraform_backend
DATABASE_URL=postgresql://{user}:{password|url}@{host}:5432/{app}
CELERY_BROKER_URL=amqp://{user}:{alnumPassword}@{host}:5672//
MONGO_URI=mongodb+srv://{user}:{password|url}@cluster0.{domain}/{app}
SQLALCHEMY_DATABASE_URI=mysql+pymysql://{user}:{password|url}@{host}/{app}
SLACK_WEBHOOK=https://hooks.slack.com/services/{slackPath}
SLACK_BOT_TOKEN={slackBot}
SLACK_SIGNING_SECRET={hex32}
DISCORD_WEBHOOK=https://discord.com/api/webhooks/{discordPath}
TELEGRAM_BOT_TOKEN={telegramToken}
STRIPE_SECRET_KEY={stripeKey}
SENDGRID_API_KEY={sendgridKey}
TWILIO_AUTH_TOKEN={hex32}
MAILGUN_API_KEY={mailgunKey}
SMTP_PASSWORD={password}
MAIL_PASSWORD={appPassword}
DATADOG_API_KEY={datadogKey}
DD_APP_KEY={datadogAppKey}
NEW_RELIC_LICENSE_KEY={newRelicLicense}
SENTRY_DSN=https://{sentryDsnKey}@o{num}.ingest.sentry.io/{pid}
PAGERDUTY_TOKEN={pagerdutyKey}
OPSGENIE_API_KEY={uuid}
GRAFANA_AUTH={grafanaToken}
GF_SECURITY_ADMIN_PASSWORD={password}
CLOUDFLARE_API_TOKEN={cloudflareToken}
CLOUDFLARE_API_KEY={cloudflareKey}
DIGITALOCEAN_ACCESS_TOKEN={digitalOceanToken}
HCLOUD_TOKEN={alnum64}
LINODE_TOKEN={hex64}
FASTLY_API_KEY={url32}
OKTA_API_TOKEN={oktaToken}
AUTH0_CLIENT_SECRET={url64}
SNOWFLAKE_PASSWORD={password}
DATABRICKS_TOKEN={databricksToken}
ARTIFACTORY_ACCESS_TOKEN={artifactoryToken}
JFROG_API_KEY={artifactoryKey}
NPM_TOKEN={npmToken}
NODE_AUTH_TOKEN={npmToken}
PIP_INDEX_URL=https://{user}:{alnum40}@pypi.{domain}/simple
UV_INDEX_INTERNAL_PASSWORD={alnum40}
POETRY_HTTP_BASIC_INTERNAL_PASSWORD={password}
BUNDLE_GEMS__ACME__IO={user}:{alnum24}
CARGO_REGISTRY_TOKEN={alnum32}
GEM_HOST_API_KEY={rubygemsKey}
SONAR_TOKEN={sonarToken}
SNYK_TOKEN={snykToken}
INFRACOST_API_KEY={infracostKey}
OPENAI_API_KEY={openaiKey}
ANTHROPIC_API_KEY={anthropicKey}
HF_TOKEN={huggingFace}
PULUMI_ACCESS_TOKEN={pulumiToken}
DOPPLER_TOKEN={dopplerToken}
OP_SERVICE_ACCOUNT_TOKEN={onePasswordToken}
SOPS_AGE_KEY={ageKey}
ANSIBLE_VAULT_PASSWORD={passphrase}
SECRET_KEY_BASE={hex128}
DJANGO_SECRET_KEY=django-insecure-{randomPassword}
APP_KEY=base64:{base64of32}
JWT_SECRET={passphrase}
SESSION_SECRET={alnum32}
COOKIE_SECRET={base64of32}
ENCRYPTION_KEY={hex64}
FERNET_KEY={url32}=
AIRFLOW__CORE__FERNET_KEY={base64of32}
AIRFLOW__DATABASE__SQL_ALCHEMY_CONN=postgresql+psycopg2://airflow:{alnumPassword}@{host}/airflow
SPRING_DATASOURCE_PASSWORD={password}
KC_DB_PASSWORD={password}
KEYCLOAK_ADMIN_PASSWORD={humanPassword}
MINIO_ROOT_PASSWORD={alnum40}
ELASTIC_PASSWORD={alnum20}
LDAP_BIND_PW={humanPassword}
HTTPS_PROXY=http://{user}:{alnumPassword}@proxy.{domain}:3128
https_proxy=http://CORP%5C{user}:{password|url}@{ip}:8080
GIT_ASKPASS_PASSWORD={githubPat}
GIT_CONFIG_VALUE_0=AUTHORIZATION: basic {basic}
KUBE_TOKEN={k8sToken}
DOCKER_AUTH_CONFIG={"auths":{"registry.{domain}":{"auth":"{basic}"}}}
KUBECONFIG_DATA={kubeconfigKey}
SSH_PRIVATE_KEY={opensshKey|json}
DEPLOY_KEY_B64={kubeconfigKey}
ROOT_PW={humanPassword}
ADMIN_PWD={humanPassword}
DB_PASS={password}
DBPASS={password}
APIKEY={alnum32}
ACCESSTOKEN={alnum40}
CLIENT_SECRET={url32}
SIGNING_KEY={base64of32}
HMAC_SALT={alnum32}
PASSPHRASE={passphrase}
LICENSE_KEY={license}
MFA_SEED={totp}
WEBHOOK_SECRET={hex40}
PRIVATE_TOKEN={alnum20}
BASIC_AUTH={user}:{password}
HTPASSWD={user}:{apr1}
declare -x DB_PASSWORD="{password}"
declare -x TF_VAR_api_token="{alnum40}"
export GITHUB_TOKEN="{githubPat}"
set -gx DB_PASSWORD {password|sh}
{dollar}env:DB_PASSWORD = "{password}"
SET DB_PASSWORD={password}
  DB_PASSWORD:  {password}
  - name: DB_PASSWORD⏎    value: {password|yaml}
      DB_PASSWORD:      {alnumPassword}⏎      DB_USER:          {user}
      Environment:⏎        API_TOKEN:  {hex40}
db_password = "{password|json}"
admin_password="{password|json}"⏎region="{region}"
api_tokens = ["{hex40}", "{hex40#2}"]
aws_secret_access_key = {awsSecret}
[default]⏎aws_access_key_id = {akid}⏎aws_secret_access_key = {awsSecret}⏎aws_session_token = {awsSession}
[client]⏎user={user}⏎password={password}
password: {password|yaml}
  password: "{password|json}"
    token: {k8sToken}
    client-key-data: {kubeconfigKey}
adminPassword: {password|yaml}
  auth:⏎    existingSecret: ""⏎    rootPassword: {password|yaml}
postgresqlPassword: {alnumPassword}
auth_token: {hex40}
secret: {alnum32}
credentials "app.terraform.io" {⏎  token = "{tfcToken}"⏎}
credentials "scalr.io" { token = "{scalrToken}" }
  secret_key = "{awsSecret}"
  client_secret   = "{azureSecret}"
  auth_login {⏎    parameters = { password = "{password|json}" }⏎  }
spring.datasource.password={password}
spring.rabbitmq.password: {password|yaml}
javax.net.ssl.keyStorePassword={humanPassword}
sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required username="{user}" password="{password|json}";
hibernate.connection.password {alnumPassword}
ssl.keystore.password = {humanPassword}
<password>{password|html}</password>
<server><id>nexus</id><username>{user}</username><password>{password|html}</password></server>
<add key="ClearTextPassword" value="{password|html}" />
<add name="Default" connectionString="Server={host};Database={app};User Id={user};Password={alnumPassword};" />
<property name="password" value="{password|html}"/>
<string name="api_key">{alnum40}</string>
//npm.example.com/:_authToken={npmToken}
//npm.{domain}/:_password={password|b64}
_auth={basic}
"npmAuthToken": "{npmToken}"
index-url = https://{user}:{password|url}@nexus.{domain}/repository/pypi/simple
[pypi]⏎username = __token__⏎password = {pypiToken}
machine github.com⏎  login x-access-token⏎  password {githubApp}
machine gitlab.{domain} login ci password {gitlabPat}
{host}:5432:*:{user}:{alnumPassword}
{user}:{sha512crypt}:19700:0:99999:7:::
{user}:{apr1}
"{user}" "md5{hex32}"
requirepass {alnum32}
masterauth {alnum32}
user default on >{alnumPassword} ~* +@all
[Interface]⏎PrivateKey = {wireguard}⏎Address = {ip}/24
PresharedKey = {wireguard}
: PSK "{alnumPassword}"
snmp-server community {alnum16} RO
enable secret 5 {dollar}1{dollar}{salt}{dollar}{alnum24}
bindpw {humanPassword}
bind_password = '{password}'
{"auths":{"ghcr.io":{"auth":"{basic}"}}}
{"auths":{"{account}.dkr.ecr.{region}.amazonaws.com":{"username":"AWS","password":"{awsEcrPassword}"}}}
{"db":{"host":"{host}","user":"{user}","password":"{password|json}"}}
{"ApiKey":"{alnum32}","BaseUrl":"https://api.{domain}"}
{"ConnectionStrings":{"Default":"Host={host};Username={user};Password={alnumPassword}"}}
'password' => '{password}',
define('DB_PASSWORD', '{password}');
define( 'AUTH_KEY', '{randomPassword}{randomPassword#2}' );
{dollar}config['db_password'] = '{password}';
  :password: {password|yaml}
password={password}, user={user}, host={host}
environ({'HOME': '/root', 'DB_PASSWORD': '{password}', 'PATH': '/usr/bin'})
[DB_HOST={host} DB_PASSWORD={alnumPassword} STAGE=prod]
["DB_HOST={host}","DB_PASSWORD={password|json}","PATH=/usr/bin"]
map[DB_HOST:{host} DB_PASSWORD:{alnumPassword} STAGE:prod]
HOSTNAME={app}-0 DB_PASSWORD={alnumPassword} KUBERNETES_PORT=tcp://10.0.0.1:443
| db_password | {password} |
| SECRET_KEY | {hex64} | production |
db_password              {password}
api_key      {alnum40}
Variable db_password set to {password}
(limit) PIN={pin}
(limit) COLOR={word}
(limit) CONFIG_VALUE={alnumPassword}
(limit) SETTING_A={humanPassword}
(limit) SEED={lower32}
(limit) X={alnum16}
(limit) WORDS="{mnemonic}"
(limit) LOGIN={user},{humanPassword}
(limit) option: {humanPassword}
(limit) id: {alnum24}
(limit) "value": "{alnumPassword}"
(limit) value = {humanPassword}
`,
);
