import {shapes} from './shapes.ts';

export const connectionStrings = shapes(
  'connection strings',
  `
postgres://{user}:{password|url}@{host}:5432/{app}?sslmode=require
Connecting to postgresql://{user}:{password|url}@{host}:5432/{app}
postgresql+psycopg2://{user}:{alnumPassword}@{host}/{app}
connecting to postgres://{user}:{randomPassword}@{host}:5432/{app}
postgresql://{host}:5432/{app}?user={user}&password={password|url}
mysql://{user}:{password|url}@{host}:3306/{app}
mysql2://{user}:{alnumPassword}@{host}/{app}?reconnect=true
mysql+pymysql://{user}:{password|url}@{host}/{app}?charset=utf8mb4
{user}:{password}@tcp({host}:3306)/{app}?parseTime=true
dsn="{user}:{alnumPassword}@unix(/var/run/mysqld.sock)/{app}"
mariadb://{user}:{alnumPassword}@{host}:3306/{app}
jdbc:postgresql://{host}:5432/{app}?user={user}&password={password|url}&ssl=true
jdbc:mysql://{host}:3306/{app}?user={user}&password={alnumPassword}&useSSL=true
jdbc:mysql://{user}:{alnumPassword}@{host}:3306/{app}
jdbc:sqlserver://{host}:1433;databaseName={app};user={user};password={password};encrypt=true;
jdbc:oracle:thin:{user}/{alnumPassword}@//{host}:1521/ORCLPDB1
jdbc:oracle:thin:@(DESCRIPTION=(ADDRESS=(HOST={host}))) user={user} password={alnumPassword}
jdbc:snowflake://acme.snowflakecomputing.com/?user={user}&password={alnumPassword}&db={app}
jdbc:redshift:iam://{host}:5439/{app}?AccessKeyID={akid}&SecretAccessKey={awsSecret|url}
jdbc:db2://{host}:50000/{app}:user={user};password={alnumPassword};
host={host} port=5432 user={user} password={password} dbname={app} sslmode=require
host={host} user={user} password='{password}' dbname={app}
user={user} password={alnumPassword} host={host}
Host={host};Port=5432;Database={app};Username={user};Password={password};Pooling=true
Server=tcp:{host},1433;Initial Catalog={app};User ID={user};Password={password};Encrypt=True;
Server={host};Database={app};Uid={user};Pwd={alnumPassword};
Data Source={host};User Id={user};Password="{password}";
Driver={ODBC Driver 18 for SQL Server};Server={host};UID={user};PWD={{alnumPassword}};Encrypt=yes
DRIVER=PostgreSQL;SERVER={host};UID={user};PWD={alnumPassword};DATABASE={app}
sqlserver://{user}:{password|url}@{host}:1433?database={app}
mssql+pyodbc://{user}:{password|url}@{host}/{app}?driver=ODBC+Driver+17+for+SQL+Server
mssql+pyodbc:///?odbc_connect=DRIVER%3D%7BODBC%7D%3BSERVER%3D{host}%3BUID%3D{user}%3BPWD%3D{alnumPassword}%3B
oracle+cx_oracle://{user}:{alnumPassword}@{host}:1521/?service_name=ORCL
mongodb://{user}:{password|url}@{host}:27017/{app}?authSource=admin
mongodb+srv://{user}:{alnumPassword}@cluster0.{domain}/{app}?retryWrites=true
mongodb://{user}:{alnumPassword}@a.{domain}:27017,b.{domain}:27017,c.{domain}:27017/{app}?replicaSet=rs0
mongodb://{app}-cosmos:{azureCosmosKey|url}@{app}.mongo.cosmos.azure.com:10255/?ssl=true
redis://:{alnum32}@{host}:6379/0
redis://default:{alnum32}@{host}:6379
rediss://:{password|url}@{host}:6380/1
redis-sentinel://:{alnum24}@a:26379,b:26379/mymaster/0
{host}:6380,password={azureSharedKey},ssl=True,abortConnect=False
amqp://{user}:{password|url}@{host}:5672/%2F
amqps://{user}:{alnumPassword}@b-{id}.mq.{region}.amazonaws.com:5671
stomp+ssl://{user}:{alnumPassword}@{host}:61614
mqtt://{user}:{alnumPassword}@{host}:1883
nats://{user}:{alnumPassword}@{host}:4222
nats://{alnum32}@{host}:4222
kafka: sasl.username={user} sasl.password={password} bootstrap={host}:9092
Endpoint=sb://{app}.servicebus.windows.net/;SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey={azureSharedKey}
HostName={app}.azure-devices.net;SharedAccessKeyName=iothubowner;SharedAccessKey={azureSharedKey}
DefaultEndpointsProtocol=https;AccountName=st{short};AccountKey={azureStorageKey};EndpointSuffix=core.windows.net
BlobEndpoint=https://st.blob.core.windows.net/;SharedAccessSignature=sv=2022-11-02&ss=b&sp=rl&sig={azureSharedKey|url}
AccountEndpoint=https://{app}.documents.azure.com:443/;AccountKey={azureCosmosKey};
Endpoint=https://{app}.azconfig.io;Id=abcd-l0-s0:{reference};Secret={azureSharedKey}
InstrumentationKey={uuid};IngestionEndpoint=https://westeurope-5.in.applicationinsights.azure.com/
endpoint=https://{app}.communication.azure.com/;accesskey={azureStorageKey}
ldap://cn={user},dc=acme,dc=io:{alnumPassword}@{host}:389
ldaps://{user}:{password|url}@ldap.{domain}:636/dc=acme
smtp://{user}:{password|url}@smtp.{domain}:587
smtps://apikey:{sendgridKey}@smtp.sendgrid.net:465
smtp://{user}@{domain}:{alnumPassword}@smtp.{domain}:587
imap://{user}:{alnumPassword}@mail.{domain}:993
sftp://{user}:{password|url}@{ip}:22/upload
ftp://{user}:{humanPassword|url}@ftp.{domain}/in
ssh://{user}:{alnumPassword}@{ip}:22/repo
elasticsearch: http://elastic:{alnum20}@{host}:9200
clickhouse://{user}:{alnumPassword}@{host}:9000/{app}
clickhouse://{host}:9000?username={user}&password={alnumPassword}
cassandra://cassandra:{alnumPassword}@{host}:9042/ks
neo4j+s://neo4j:{alnumPassword}@{host}:7687
influxdb://{user}:{alnumPassword}@{host}:8086/telegraf
snowflake://{user}:{alnumPassword}@acme.{region}/DB/PUBLIC?warehouse=WH
snowflake dsn {user}:{alnumPassword}@acme/DB/PUBLIC
bigquery://{app}?credentials_base64={kubeconfigKey}
databricks://token:{databricksToken}@x.cloud.databricks.com?http_path=/sql/1.0
cockroachdb://{user}:{alnumPassword}@{host}:26257/defaultdb
vertica://{user}:{alnumPassword}@{host}:5433/{app}
couchbase://{user}:{alnumPassword}@{host}/bucket
etcd://root:{alnumPassword}@{host}:2379
memcached sasl {user}:{alnumPassword}@{host}:11211
s3://{akid}:{awsSecret|url}@{bucket}/path
s3://{bucket}/state?access_key={akid}&secret_key={awsSecret|url}
postgres://{user}:{planetscale}@{host}/{app}
DSN: {user}:{password}@{host}/{app}
conn={user}/{alnumPassword}@{host}:1521/ORCL
(limit) {user} {alnumPassword} {host}
(limit) {host}:{humanPassword}
(limit) {host},{user},{alnumPassword},{app}
(limit) {host}|{user}|{humanPassword}
`,
);
