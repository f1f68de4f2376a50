import {shapes} from './shapes.ts';

/** What Python, Go, Java, Node.js, Ruby, .NET and Rust print of objects and errors. */
export const tracebacks = shapes(
  'tracebacks and structs',
  String.raw`
Traceback (most recent call last):⏎  File "/app/db.py", line 42, in connect⏎    conn = psycopg2.connect(host='{host}', user='{user}', password='{password}')⏎psycopg2.OperationalError: could not connect to server
    client = boto3.client('s3', aws_access_key_id='{akid}', aws_secret_access_key='{awsSecret}')
    requests.get(url, headers={'Authorization': 'Bearer {hex40}'})
    requests.post(url, auth=('{user}', '{password}'))
    redis.Redis(host='{host}', password='{alnum32}', db=0)
KeyError: '{alnum32}'
(limit) ValueError: invalid literal for int() with base 10: '{alnumPassword}'
ValueError: Port could not be cast to integer value as '{randomPassword}'
ValueError: Invalid token: '{hex40}'
TypeError: connect() got an unexpected keyword argument 'pasword' (kwargs={'pasword': '{password}', 'user': '{user}'})
sqlalchemy.exc.OperationalError: (psycopg2.OperationalError) connection to server at "{host}" failed⏎(Background on this error at: https://sqlalche.me/e/20/e3q8) url=postgresql://{user}:{alnumPassword}@{host}/{app}
sqlalchemy.exc.ArgumentError: Could not parse SQLAlchemy URL from string '{user}:{password}@{host}/{app}'
[SQL: UPDATE users SET password=%(password)s WHERE id=%(id)s]⏎[parameters: {'password': '{password}', 'id': {num}}]
[SQL: INSERT INTO tokens (name, token) VALUES (?, ?)]⏎[parameters: ('ci', '{hex40}')]
pydantic_core._pydantic_core.ValidationError: 1 validation error for Settings⏎db_password⏎  Value error, too short [type=value_error, input_value='{humanPassword}', input_type=str]
  Input should be a valid integer [type=int_type, input_value={'user': '{user}', 'password': '{password}'}, input_type=dict]
  Extra inputs are not permitted [type=extra_forbidden, input_value='{alnum40}', input_type=str]
botocore.exceptions.ClientError: An error occurred (InvalidClientTokenId): Credentials(access_key='{akid}', secret_key='{awsSecret}', token=None)
locals: {'self': <Client>, 'token': '{hex40}', 'retries': 3}
│ │ password = '{password}'                                   │
│ │   config = {'host': '{host}', 'password': '{password}'}   │
INFO Settings(host='{host}', user='{user}', password='{password}', pool=5)
DEBUG config={'api_key': '{alnum40}', 'timeout': 30}
DEBUG Namespace(db_password='{password}', verbose=True)
DEBUG DatabaseConfig(host='{host}', port=5432, secret=b'{alnum32}')
DEBUG OrderedDict([('user', '{user}'), ('password', '{password}')])
(limit) DEBUG ('{user}', '{password}')
DEBUG Credentials: ('{user}', '{password}')
send: b'POST /oauth/token HTTP/1.1\r\nHost: auth.{domain}\r\nAuthorization: Basic {basic}\r\n\r\n'
send: b'client_id={id}&client_secret={url32}&grant_type=client_credentials'
header: Set-Cookie: sessionid={lower32}; HttpOnly; Path=/
DEBUG urllib3.connectionpool https://api.{domain}:443 "GET /v1/users?api_key={alnum32} HTTP/1.1" 200 None
requests.exceptions.HTTPError: 401 Client Error: Unauthorized for url: https://api.{domain}/v2/data?access_token={alnum40}
requests.exceptions.ConnectionError: HTTPSConnectionPool(host='api.{domain}', port=443): Max retries exceeded with url: /hooks?token={hex40}
requests.exceptions.InvalidURL: Failed to parse: https://{user}:{randomPassword}@{domain}/x
subprocess.CalledProcessError: Command '['mysql', '-u', '{user}', '-p{password}']' returned non-zero exit status 1.
subprocess.CalledProcessError: Command 'vault login {vaultToken}' returned non-zero exit status 2.
subprocess.CalledProcessError: Command '['helm', 'upgrade', '--set', 'password={password}']' died with <Signals.SIGKILL: 9>.
jwt.exceptions.DecodeError: Not enough segments: '{hex64}'
binascii.Error: Incorrect padding: b'{base64of24}'
yaml.scanner.ScannerError: mapping values are not allowed here⏎  in "values.yaml", line 3, column 20⏎    password: {randomPassword}⏎                   ^
json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0) doc='{alnum40}'
ansible: fatal: [{ip}]: FAILED! => {"changed": false, "invocation": {"module_args": {"login_password": "{password|json}", "login_user": "{user}"}}}
fatal: [{ip}]: FAILED! => {"cmd": ["htpasswd", "-b", "/etc/h", "{user}", "{password|json}"], "rc": 1}
panic: invalid DSN: {user}:{password}@tcp({host}:3306)/{app}⏎⏎goroutine 1 [running]:⏎main.main()⏎⇥/src/main.go:21 +0x1d
parse "postgres://{user}:{randomPassword}@{host}:5432/{app}": net/url: invalid userinfo
parse "https://{domain}/%zz?token={hex40}": invalid URL escape "%zz"
cfg: {Host:{host} Port:5432 User:{user} Password:{password} SSLMode:require}
cfg: &{Region:{region} AccessKey:{akid} SecretKey:{awsSecret} Token:}
cfg: main.Config{Host:"{host}", User:"{user}", Password:"{password|json}"}
config: &config.Client{Address:"https://vault:8200", Token:"{vaultToken}", MaxRetries:2}
(main.Config) {⏎ Host: (string) (len=12) "{host}",⏎ Password: (string) (len=20) "{password|json}",⏎ Port: (int) 5432⏎}
map[string]interface {}{"password":"{password|json}", "username":"{user}"}
map[password:{alnumPassword} username:{user}]
map[Authorization:[Bearer {hex40}] Content-Type:[application/json]]
http.Header{"Authorization":[]string{"token {githubPat}"}, "Accept":[]string{"*/*"}}
[]string{"--user", "{user}", "--password", "{password|json}"}
&{GET https://api.{domain}/v1?key={alnum32} HTTP/1.1 1 1 map[X-Api-Key:[{alnum32}]] <nil> <nil> 0 [] false api.{domain}}
aws.Credentials{AccessKeyID:"{akid}", SecretAccessKey:"{awsSecret}", SessionToken:"", Source:"EnvConfigCredentials"}
{{akid} {awsSecret}  EnvProvider false}
&oauth2.Token{AccessToken:"{gcpAccessToken}", TokenType:"Bearer", RefreshToken:"{gcpRefreshToken}"}
[]uint8("{alnum32}")
failed to authenticate user {user} with password "{password|json}": 401 Unauthorized
Post "https://hooks.slack.com/services/{slackPath}": dial tcp: lookup hooks.slack.com: no such host
Get "https://api.{domain}/v1/items?apikey={alnum32}": context deadline exceeded
error: secret "{alnum40}" is not valid base64
illegal base64 data at input byte 4: {randomPassword}
(limit) strconv.Atoi: parsing "{alnumPassword}": invalid syntax
json: cannot unmarshal string into Go value of type int: {"password":"{password|json}"}
level=error msg="login failed" user={user} password={alnumPassword} err="401"
level=debug msg=config token="{hex40}" url=https://{domain}
{"level":"error","ts":1790000000.12,"caller":"db/db.go:33","msg":"connect","dsn":"{user}:{password|json}@tcp({host}:3306)/{app}","error":"refused"}
{"severity":"ERROR","message":"auth failed for {user}:{password|json}"}
java.sql.SQLException: Access denied for user '{user}'@'{ip}' (using password: {alnumPassword})
java.sql.SQLException: No suitable driver found for jdbc:postgresql://{host}/{app}?user={user}&password={password|url}
Caused by: org.postgresql.util.PSQLException: FATAL: password authentication failed, url=jdbc:postgresql://{host}:5432/{app}?password={alnumPassword}
HikariConfig [dataSourceProperties={password={alnumPassword}}, jdbcUrl=jdbc:mysql://{host}/{app}, username={user}]
DataSourceConfig(url=jdbc:postgresql://{host}/{app}, username={user}, password={password})
DataSourceConfig{url='jdbc:postgresql://{host}/{app}', username='{user}', password='{password}'}
User[name={user}, password={password}, roles=[admin]]
Credentials [username={user}, secret={alnum32}]
com.acme.Client@1f2e3d[apiKey={alnum32},timeout=30]
java.lang.IllegalArgumentException: Illegal character in authority at index 8: https://{user}:{randomPassword}@{domain}
{password={alnumPassword}, username={user}}
BasicScheme: Authorization: Basic {basic}
http-outgoing-0 >> "Authorization: Bearer {jwt}[\r][\n]"
http-outgoing-0 >> "grant_type=password&username={user}&password={password|url}"
Error: connect ECONNREFUSED⏎    at TCPConnectWrap.afterConnect⏎  config: { host: '{host}', user: '{user}', password: '{password}' }
{⏎  host: '{host}',⏎  user: '{user}',⏎  password: '{password}',⏎  database: '{app}'⏎}
Connection { config: ConnectionConfig { host: '{host}', password: '{password}', database: '{app}' } }
AxiosError: Request failed with status code 401⏎  config: {⏎    headers: AxiosHeaders {⏎      Accept: 'application/json',⏎      Authorization: 'Bearer {hex40}'⏎    },⏎    url: 'https://api.{domain}'
    headers: { 'x-api-key': '{alnum40}', 'content-type': 'application/json' },
    data: '{"password":"{password|json}","username":"{user}"}'
    auth: { username: '{user}', password: '{password}' },
  [Symbol(kHeaders)]: { authorization: [ 'Authorization', 'Bearer {alnum40}' ] }
TypeError: Invalid URL⏎    input: 'https://{user}:{randomPassword}@{domain}:port/',⏎    code: 'ERR_INVALID_URL'
JsonWebTokenError: jwt malformed: {alnum40}
MongoParseError: Password contains unescaped characters: {randomPassword}
MongooseServerSelectionError: connect to mongodb://{user}:{alnumPassword}@{host}:27017/{app} failed
npm ERR! 401 Unauthorized - GET https://npm.{domain}/x - authToken={npmToken}
npm http fetch GET 401 https://{user}:{alnumPassword}@npm.{domain}/{app}
#<Config:0x000055d host="{host}", password="{password|json}">
#<PG::Connection host={host} user={user} password={alnumPassword}>
{:user=>"{user}", :password=>"{password|json}"}
{user: "{user}", password: "{password|json}"}
Parameters: {"user"=>{"email"=>"a@{domain}", "password"=>"{password|json}"}, "commit"=>"Log in"}
Faraday::UnauthorizedError: headers={"Authorization"=>"Bearer {hex40}"}
System.Data.SqlClient.SqlException: Login failed. ConnectionString: Server={host};User Id={user};Password={alnumPassword}
Config { host: "{host}", password: "{password|json}", port: 5432 }
Config { token: Some("{hex40}"), url: "https://{domain}" }
thread 'main' panicked at src/main.rs:10: called Result::unwrap() on an Err value: InvalidToken("{alnum40}")
PHP Fatal error: Uncaught PDOException: SQLSTATE[HY000] in /app/db.php:12⏎Stack trace:⏎#0 /app/db.php(12): PDO->__construct('mysql:host={host}', '{user}', '{password}')
#3 /app/Client.php(33): Client->login('{user}', '{password}')
array(2) {⏎  ["user"]=>⏎  string(5) "{user}"⏎  ["password"]=>⏎  string(16) "{password|json}"⏎}
Array⏎(⏎    [user] => {user}⏎    [password] => {password}⏎)
variable "db_password" = cty.StringVal("{password|json}")
cty.ObjectVal(map[string]cty.Value{"password":cty.StringVal("{password|json}")})
  with var.db_password = {password}
(limit) DEBUG args=('{humanPassword}',)
(limit) KeyError: '{humanPassword}'
(limit) assert '{alnumPassword}' == 'x'
(limit) [{user} {humanPassword} {num}]
(limit) {{user} {alnumPassword} 5432}
(limit) Entry(name='{user}', value='{humanPassword}')
(limit) panic: unexpected value {word}
(limit) at login({humanPassword})
`,
);
