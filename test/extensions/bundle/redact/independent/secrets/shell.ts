import {shapes} from './shapes.ts';

/** `set -x`, process lists, command lines in messages and histories. */
export const shell = shapes(
  'shell',
  String.raw`
+ export DB_PASSWORD={password|sh}
++ export AWS_SECRET_ACCESS_KEY={awsSecret}⏎++ AWS_SECRET_ACCESS_KEY={awsSecret}
+ AWS_SESSION_TOKEN={awsSession}
+ export TF_VAR_db_password={password|sh}
+ PGPASSWORD={password|sh}⏎+ psql -h {host} -U {user} -c 'select 1'
+ PGPASSWORD={password|sh} pg_dump -h {host} -U {user} {app}
+ MYSQL_PWD={password|sh} mysqldump -h {host} {app}
+ mysql -h {host} -u {user} -p{password|sh} -e 'show databases'
+ mysql --host={host} --user={user} --password={password|sh}
+ mysqladmin -u root password {password|sh}
+ mysqldump -u{user} -p{alnumPassword} --single-transaction {app}
+ psql 'host={host} user={user} password={alnumPassword} dbname={app}'
+ psql postgresql://{user}:{password|url}@{host}:5432/{app} -f schema.sql
+ psql -c "ALTER USER {user} WITH PASSWORD '{password}'"
+ sqlplus {user}/{alnumPassword}@//{host}:1521/ORCL
+ sqlcmd -S {host} -U sa -P {password|sh} -Q 'SELECT 1'
+ bcp dbo.t out t.csv -S {host} -U {user} -P {password|sh} -c
+ redis-cli -h {host} -a {alnum32} ping
+ redis-cli -u redis://:{alnum24}@{host}:6379 info
+ redis-cli --pass {password|sh} --no-auth-warning FLUSHALL
+ mongosh --host {host} -u {user} -p {password|sh} --authenticationDatabase admin
+ mongodump --uri=mongodb://{user}:{password|url}@{host}:27017/{app}
+ mongo admin -u root -p {alnumPassword} --eval 'db.stats()'
+ cqlsh {host} -u cassandra -p {password|sh}
+ influx -username {user} -password {password|sh}
+ clickhouse-client --host {host} --user {user} --password {password|sh}
+ snowsql -a acme -u {user} --authenticator snowflake --password={alnumPassword}
+ docker login -u {user} -p {password|sh} registry.{domain}
+ docker login --username AWS --password {awsEcrPassword} {account}.dkr.ecr.{region}.amazonaws.com
+ echo {dockerPat}⏎+ docker login --username {user} --password-stdin
+ docker run -d -e POSTGRES_PASSWORD={password|sh} -p 5432:5432 postgres:15
+ docker run --env API_TOKEN={hex40} --rm {app}:latest
+ docker build --build-arg NPM_TOKEN={npmToken} -t {app} .
+ docker build --build-arg PIP_INDEX_URL=https://{user}:{alnum40}@pypi.{domain}/simple .
+ podman login --username {user} --password {password|sh} quay.io
+ skopeo copy --src-creds {user}:{password|sh} docker://a docker://b
+ skopeo login -u {user} -p {alnum64} quay.io
+ crane auth login ghcr.io -u {user} -p {githubPat}
+ buildah bud --creds={user}:{alnumPassword} .
+ nerdctl login -u robot -p {alnum32} harbor.{domain}
+ helm upgrade --install {app} ./chart --set postgresql.auth.password={password|sh} -n {ns}
+ helm install grafana grafana/grafana --set adminPassword={password|sh}
+ helm upgrade {app} chart --set-string env.API_KEY={alnum40},env.STAGE=prod
+ helm repo add internal https://charts.{domain} --username {user} --password {password|sh}
+ helm registry login {account}.azurecr.io --username {id} --password {azureSecret}
+ kubectl create secret generic db --from-literal=password={password|sh} --from-literal=username={user}
+ kubectl create secret docker-registry regcred --docker-server=ghcr.io --docker-username={user} --docker-password={githubPat}
+ kubectl --token={k8sToken} get pods -n {ns}
+ kubectl config set-credentials ci --token={k8sToken}
+ kubectl config set-credentials admin --username=admin --password={password|sh}
+ kubectl create token agent -n {ns}⏎{k8sToken}
+ kubectl set env deploy/{app} SECRET_KEY={alnum32}
+ kubectl patch secret db -p '{"data":{"password":"{password|b64}"}}'
+ kubeadm join {ip}:6443 --token {bootstrapToken} --discovery-token-ca-cert-hash sha256:{sha}
+ k3s agent --server https://{ip}:6443 --token {k3sToken}
+ rke2 server --token={alnum32}
+ oc login --token=sha256~{url32} --server=https://api.{domain}:6443
+ oc login -u {user} -p {password|sh} https://api.{domain}:6443
+ argocd login argocd.{domain} --username admin --password {alnum16} --grpc-web
+ aws configure set aws_secret_access_key {awsSecret}
+ aws configure set aws_session_token {awsSession} --profile ci
+ aws rds modify-db-instance --db-instance-identifier {app} --master-user-password {password|sh}
+ aws ssm put-parameter --name /{app}/db --type SecureString --value {password|sh} --overwrite
+ aws secretsmanager create-secret --name {app} --secret-string {password|sh}
+ aws secretsmanager put-secret-value --secret-id {app} --secret-string '{"password":"{password|json}"}'
+ aws secretsmanager get-secret-value --secret-id {app} --query SecretString --output text⏎{password}
+ aws ecr get-login-password --region {region}⏎{awsEcrPassword}
+ aws sts assume-role --role-arn arn:aws:iam::{account}:role/ci --query Credentials --output text⏎{asia}⇥2026-11-24T12:00:00Z⇥{awsSecret}⇥{awsSession}
+ aws iam create-access-key --user-name ci --output text⏎ACCESSKEY⇥{akid}⇥2026-11-24T12:00:00Z⇥{awsSecret}⇥Active⇥ci
+ aws cognito-idp admin-set-user-password --user-pool-id {region}_x --username {user} --password {password|sh} --permanent
+ az login --service-principal -u {id} -p {azureSecret} --tenant {id#2}
+ az login --service-principal --username {id} --password={azureSecret} --tenant {id#2}
+ az storage blob upload --account-name st --account-key {azureStorageKey} -f x -c y
+ az storage account keys list -n st --query '[0].value' -o tsv⏎{azureStorageKey}
+ az keyvault secret set --vault-name kv --name db --value {password|sh}
+ az sql server create -n {app} --admin-user {user} --admin-password {password|sh}
+ az vm create -n vm --admin-username azureuser --admin-password {password|sh}
+ az account get-access-token --query accessToken -o tsv⏎{azureAccessToken}
+ az devops login⏎+ echo {azureDevopsPat}
+ gcloud auth print-access-token⏎{gcpAccessToken}
+ gcloud sql users set-password {user} --instance={app} --password={password|sh}
+ gcloud secrets versions access latest --secret=db⏎{password}
+ vault login {vaultToken}
+ vault login -method=userpass username={user} password={password|sh}
+ vault kv put secret/{app} password={password|sh} user={user}
+ vault kv get -field=password secret/{app}⏎{password}
+ vault write auth/approle/login role_id={id} secret_id={uuid}
+ vault operator unseal {base64of32}
+ VAULT_TOKEN={vaultShortToken} vault status
Key                  Value⏎---                  -----⏎token                {vaultToken}⏎token_accessor       {id}⏎token_duration       768h
Key                Value⏎---                -----⏎lease_id           database/creds/{app}/x⏎password           {password}⏎username           v-root-{app}
Unseal Key 1: {base64of32}⏎Unseal Key 2: {base64of32#2}⏎⏎Initial Root Token: {vaultToken}
+ consul kv put -token={uuid} config/{app} 1
+ CONSUL_HTTP_TOKEN={uuid} consul members
+ nomad job run -token {uuid} {app}.nomad
+ terraform apply -auto-approve -var db_password={password|sh}
+ terraform plan -var='api_token={alnum40}' -out=tfplan
+ terraform init -backend-config=secret_key={awsSecret} -backend-config=access_key={akid}
+ terraform init -backend-config='conn_str=postgres://{user}:{alnumPassword}@{host}/tf'
+ tofu plan -var admin_password={password|sh}
+ terraform login scalr.io⏎+ echo '{"credentials":{"scalr.io":{"token":"{scalrToken}"}}}'
+ terragrunt apply --terragrunt-source git::https://{githubPat}@github.com/{org}/{repo}.git
+ ansible-playbook site.yml -e db_password={password|sh}
+ ansible-playbook site.yml --extra-vars '{"api_token":"{alnum40}"}'
+ ansible all -m ping -e ansible_ssh_pass={password|sh}
+ sshpass -p {password|sh} ssh -o StrictHostKeyChecking=no {user}@{ip}
+ SSHPASS={password|sh} sshpass -e scp file {user}@{ip}:/tmp
+ echo '{user}:{password}'⏎+ chpasswd
+ htpasswd -bc .htpasswd {user} {password|sh}
+ htpasswd -nbB admin {password|sh}⏎admin:{bcrypt}
+ openssl enc -aes-256-cbc -pass pass:{password|sh} -in a -out b
+ openssl pkcs12 -export -passout pass:{alnumPassword} -out c.p12
+ openssl rand -hex 32⏎{hex64}
+ openssl rand -base64 24⏎{base64of24}
+ keytool -importkeystore -srcstorepass {password|sh} -deststorepass {password#2|sh} -noprompt
+ gpg --batch --passphrase {password|sh} -d secrets.gpg
+ ansible-vault decrypt --vault-password-file=/dev/stdin⏎+ echo {passphrase}
+ sops --decrypt --age {ageKey} secrets.yaml
+ export SOPS_AGE_KEY={ageKey}
+ npm config set //npm.example.com/:_authToken {npmToken}
+ npm config set //npm.{domain}/:_auth={basic}
+ npm config set //npm.pkg.github.com/:_authToken={githubPat}
+ yarn config set npmAuthToken {npmToken}
+ pip install --index-url https://{user}:{password|url}@pypi.{domain}/simple {app}
+ pip install --extra-index-url https://__token__:{gitlabPat}@gitlab.{domain}/api/v4/projects/3/packages/pypi/simple x
+ twine upload -u __token__ -p {pypiToken} dist/*
+ poetry config pypi-token.internal {pypiToken}
+ poetry config http-basic.internal {user} {password|sh}
+ bundle config gems.{domain} {user}:{alnumPassword}
+ mvn deploy -Dpassword={password|sh} -Dusername={user}
+ ./gradlew publish -PnexusPassword={password|sh} -PnexusUser={user}
+ dotnet nuget push pkg.nupkg --api-key {lower32} --source https://nuget.{domain}
+ sonar-scanner -Dsonar.login={sonarToken}
+ sonar-scanner -Dsonar.token={hex40} -Dsonar.host.url=https://sonar.{domain}
+ gh auth login --with-token⏎+ echo {githubPat}
+ GITHUB_TOKEN={githubApp} gh release create v1
+ glab auth login --token {gitlabPat} --hostname gitlab.{domain}
+ gitlab-runner register --non-interactive --registration-token {gitlabOldRunner} --url https://gitlab.{domain}
+ ./config.sh --url https://github.com/{org} --token {upper24} --unattended
+ ldapsearch -x -D cn={user},dc=acme,dc=io -w {password|sh} -b dc=acme
(limit) + kinit {user}@CORP⏎+ echo {humanPassword}
+ smbclient //{ip}/share -U {user}%{alnumPassword} -c ls
+ mount -t cifs //{ip}/share /mnt -o username={user},password={alnumPassword},vers=3.0
+ net user {user} {humanPassword} /add
PS> New-ADUser -Name {user} -AccountPassword (ConvertTo-SecureString '{password}' -AsPlainText -Force)
DEBUG:   19+  >>>> {dollar}env:ARM_CLIENT_SECRET = '{azureSecret}'
DEBUG:    3+  >>>> {dollar}pw = "{alnumPassword}"
powershell.exe -EncodedCommand {humanPassword|utf16}
+ wg set wg0 private-key {wireguard}
+ nmcli dev wifi connect office password {humanPassword}
+ snmpwalk -v2c -c {alnum16} {ip} system
+ ipmitool -I lanplus -H {ip} -U ADMIN -P {password|sh} power status
+ rabbitmqctl add_user {user} {password|sh}
+ rabbitmqadmin -u {user} -p {password|sh} list queues
+ kafka-configs.sh --alter --add-config 'SCRAM-SHA-512=[password={alnumPassword}]' --entity-name {user}
+ kcat -b {host}:9092 -X sasl.username={user} -X sasl.password={alnumPassword}
+ rclone copy a b --s3-secret-access-key {awsSecret}
+ s3cmd --access_key={akid} --secret_key={awsSecret} ls
+ mc alias set minio https://minio.{domain} {user} {password|sh}
+ restic -r s3:x backup⏎+ RESTIC_PASSWORD={password|sh}
+ borg create --passphrase {passphrase} ::x
+ datadog-ci junit upload --api-key={datadogKey}
+ newrelic apm deployment create --apiKey {newRelicKey}
+ infracost configure set api_key {infracostKey}
+ snyk auth {snykToken}
+ doctl auth init -t {digitalOceanToken}
+ flyctl deploy --access-token {flyToken}
+ heroku auth:token⏎{uuid}
+ doppler run --token {dopplerToken} -- env
+ op read op://vault/db/password⏎{password}
+ databricks configure --token {databricksToken} --host https://x.cloud.databricks.com
+ jenkins-cli -auth {user}:{jenkinsToken} list-jobs
+ scalr -token {scalrToken} get-runs
(limit) + expect -c 'spawn su; send "{humanPassword}\r"'
+ read -r TOKEN⏎+ TOKEN={lower32}
+ local secret={password|sh}
+ pass={password|sh}
+ readonly API_KEY={hex32}
+ declare -x ADMIN_PASSWORD={password|sh}
+ envsubst⏎+ cat⏎db_pass={password}
+ sed -i s/__DB_PASSWORD__/{alnumPassword}/ config.yml
+ sed -i 's|TOKEN_PLACEHOLDER|{hex40}|' app.env
+ awk -v token={hex40} '{print token}' in.txt
+ jq --arg password {password|sh} '.db.password = $password' config.json
+ yq -i '.auth.password = "{alnumPassword}"' values.yaml
(limit) + [[ -z {password|sh} ]]
(limit) + '[' -n {hex40} ']'
+ echo {password|b64}⏎+ base64 -d
+ base64 -d⏎{password}
+ printf 'machine github.com login x-access-token password %s\n' {githubPat}
+ tee /root/.pgpass⏎{host}:5432:{app}:{user}:{alnumPassword}
root      {pid}  0.0  0.1  12345  6789 ?  Ss  12:00  0:00 mysqld --user=mysql --init-password={alnumPassword}
app       {pid}  1.2  3.4 python worker.py --db-password {password|sh} --queue default
{pid} ?  Sl  0:12 java -Dspring.datasource.password={alnumPassword} -jar /app/{app}.jar
  {num}  2026-11-24 12:00:01  curl -u {user}:{alnumPassword} https://{domain}
bash: line 3: {randomPassword}: command not found
(limit) sh: 1: export: {humanPassword}: bad variable name
time="{ts}" level=info msg="running command" cmd="restic backup --password-command 'echo {alnumPassword}'"
Executing command: ["helm","upgrade","{app}","--set","db.password={alnumPassword}"]
exec: ["/usr/bin/vault","login","-no-print","{vaultToken}"]
Running: ['psql', '-h', '{host}', '--password', '{password}']
subprocess args: mysql -u{user} -p{password|sh} {app}
CMD (PGPASSWORD={alnumPassword} /usr/bin/pg_dump {app} > /backup/{app}.sql)
(limit) cat: /etc/db/{alnum32}: No such file or directory
(limit) + echo {humanPassword}
(limit) + set -- {humanPassword} {user}
(limit) + ./deploy.sh prod {alnumPassword}
(limit) + ./login.sh {user} {humanPassword}
(limit) + grep -q {alnum16} /tmp/out
(limit) + [[ {humanPassword} == '' ]]
(limit) + x={word}
(limit) + printf %s {lower16}
`,
);
