import {describe, expect, test} from 'vitest';
import {seen} from './helpers.ts';

const KEY_LINES = [
  '-----BEGIN PRIVATE KEY-----',
  'Tr0ub4dorTr0ub4dorTr0ub4dor',
  '-----END PRIVATE KEY-----',
].join('\n');

/** Every secret in these is `Tr0ub4dor`, and nothing else is one. */
const SECRET: Readonly<Record<string, string>> = {
  'line of YAML': 'db:\n  password: Tr0ub4dor\n  user: bob\n',
  'quoted in YAML': 'token: "Tr0ub4dor" # from the pool\n',
  'in a list of YAML': '- apiKey: Tr0ub4dor\n',
  'with blanks in YAML': 'passphrase: Tr0ub4dor and three more words\nnext: 1\n',
  'block of YAML': 'private_key: |\n  Tr0ub4dor\n  Tr0ub4dor\nnext: 1\n',
  'flow of YAML': '{user: bob, password: Tr0ub4dor, port: 5432}',
  JSON: '{"user":"bob","client_secret":"Tr0ub4dor","port":5432}',
  'pretty JSON': '{\n  "accessKey": "Tr0ub4dor",\n  "port": 5432\n}\n',
  'quote in JSON': '{"password":"Tr0ub4dor\\"x","port":1}',
  'number in JSON': '{"password": 8675309, "port": 5432}',
  'JSON in JSON': '{"m":"{\\"token\\":\\"Tr0ub4dor\\",\\"port\\":1}"}',
  'JSON in JSON in JSON': JSON.stringify({
    a: JSON.stringify({b: JSON.stringify({api_key: 'Tr0ub4dor', port: 1})}),
  }),
  'end of escaped value': JSON.stringify({a: JSON.stringify({token: 'Tr0ub4dor\\', port: 1})}),
  'words of Python': "{'password': 'Tr0ub4dor', 'port': 5432}",
  'file of variables': 'A=1\nDB_PASSWORD=Tr0ub4dor\nB=2\n',
  'with blanks in variables': 'DB_PASSWORD=Tr0ub4dor x y\nB=2\n',
  'exported variable': 'export VAULT_TOKEN="Tr0ub4dor"\n',
  'variables in one line': 'starting with DB_PASSWORD=Tr0ub4dor PORT=5432\n',
  'text in JSON': '{"msg":"login with password=Tr0ub4dor","level":"info"}',
  'quote inside': "PASSWORD=Tr0ub'4dor\nB=2\n",
  'query of a URL': 'GET /x?access_token=Tr0ub4dor&page=2 200',
  'connection string': 'Server=db;Password=Tr0ub4dor;Port=5432',
  'flag with blank': 'curl --token Tr0ub4dor --retry 3',
  'flag with equals': 'curl --password=Tr0ub4dor --retry 3',
  'arguments of a container': '["--api-key","Tr0ub4dor","--retry","3"]',
  'property of Java': 'spring.datasource.password=Tr0ub4dor\n',
  header: 'X-Api-Key: Tr0ub4dor\r\nAccept: */*\r\n',
  'header of GitLab': 'Private-Token: Tr0ub4dor\r\n',
  authorization: 'Authorization: token Tr0ub4dor\r\nAccept: */*\r\n',
  cookies: 'Cookie: a=Tr0ub4dor; b=Tr0ub4dor\r\nAccept: */*\r\n',
  'bearer in text': 'called with Bearer Tr0ub4dor12 and failed',
  'bearer in JSON': '{"headers":{"Authorization":["Bearer Tr0ub4dor"]}}',
  'variable of Kubernetes':
    'env:\n- name: DB_PASSWORD\n  value: Tr0ub4dor\n- name: PORT\n  value: "5432"\n',
  'variable of Kubernetes, value first':
    'env:\n- value: "Tr0ub4dor"\n  name: DB_PASSWORD\n- value: "5432"\n  name: PORT\n',
  'variable of Kubernetes in JSON':
    '[{"name":"API_TOKEN","value":"Tr0ub4dor"},{"name":"PORT","value":"5432"}]',
  'variable of Kubernetes in JSON, value first':
    '[{"value":"Tr0ub4dor","name":"API_TOKEN"},{"value":"5432","name":"PORT"}]',
  'variable of Kubernetes in a string':
    '{"x":"[{\\"name\\":\\"API_TOKEN\\",\\"value\\":\\"Tr0ub4dor\\"}]"}',
  'variable in a plan':
    '      + env {\n          + name  = "DB_PASSWORD"\n          + value = "Tr0ub4dor"\n        }\n',
  'variable of a workspace': '{"key":"DB_PASSWORD","value":"Tr0ub4dor","category":"env"}',
  Terraform: '  + master_password = "Tr0ub4dor"\n  + port            = 5432\n',
  'change in Terraform': '  ~ password = "Tr0ub4dor" -> "Tr0ub4dor" # forces replacement\n',
  'map of Terraform': '  + "auth_token" = "Tr0ub4dor"\n',
  'heredoc of Terraform':
    '  + private_key = <<-EOT\n        Tr0ub4dor\n        Tr0ub4dor\n    EOT\n  + port = 1\n',
  'colors of a log':
    '\u001b[36mtoken\u001b[0m=\u001b[35mTr0ub4dor\u001b[0m \u001b[36mport\u001b[0m=\u001b[35m5432\u001b[0m\n',
  'colors of YAML': '\u001b[94mpassword\u001b[0m: \u001b[96mTr0ub4dor\u001b[0m\nport: 1\n',
  'credentials of a host': 'TF_TOKEN_acme_scalr_io=Tr0ub4dor\nPATH=/bin\n',
  'cookies of curl': '> cookie: a=Tr0ub4dor; b=Tr0ub4dor\r\n> accept: */*\r\n',
  'key in variables': `TLS_KEY=${KEY_LINES}\nPATH=/bin\n`,
  'camel case in the middle': '{"passWord":"Tr0ub4dor","port":1}',
  'bracket first': 'password: (Tr0ub4dor\nport: 1\n',
  XML: '<password>Tr0ub4dor</password><port>5432</port>',
  Ruby: '{:password => "Tr0ub4dor", :port => 5432}',
  'wrapped JSON': '{"port":1,"token":"Tr0ub4dor\nTr0ub4dor","user":"bob"}\n',
  'output of Terraform':
    '{"db":{"sensitive":true,"type":"string","value":"Tr0ub4dor"},"x":{"sensitive":false,"type":"string","value":"y"}}',
  'output of Terraform in lines':
    '{\n  "db": {\n    "sensitive": true,\n    "type": "string",\n    "value": "Tr0ub4dor"\n  }\n}\n',
  'output of Terraform, an object':
    '{"db":{"sensitive":true,"type":["object",{"a":"string"}],"value":{"a":"Tr0ub4dor","b":["Tr0ub4dor"]}},"x":{"value":1}}',
  'output of Terraform in JSON': JSON.stringify({
    m: JSON.stringify({db: {sensitive: true, type: 'string', value: 'Tr0ub4dor'}, x: 1}),
  }),
  'output with a field of that name':
    '{"db":{"sensitive":true,"type":["object",{"value":"string","sensitive":"bool"}],"value":{"value":"Tr0ub4dor","user":"Tr0ub4dor"}},"x":{"value":1}}',
  'output with a long type': `{"db":{"sensitive":true,"type":["object",{${'"attribute":["list","string"],'.repeat(60)}"a":"string"}],"value":{"a":"Tr0ub4dor"}}}`,
  'output in a state':
    '{"outputs":{"db":{"value":"Tr0ub4dor","type":"string","sensitive":true},"x":{"value":"y","type":"string"}}}',
  'variables, the value first':
    '[{"key":"A","value":"Tr0ub4dor","sensitive":true},{"key":"B","value":"y","sensitive":false}]',
  'brackets in an output':
    '{"db":{"sensitive":true,"type":["list","string"],"value":["}]Tr0ub4dor{{","Tr0ub4dor"]},"x":{"value":"y"}}\nnext\n',
  'output in messages':
    '{"msg":"  \\"db\\": {"}\n{"msg":"    \\"sensitive\\": true,"}\n{"msg":"    \\"value\\": ["}\n{"msg":"      \\"Tr0ub4dor\\","}\n{"msg":"    ]"}\n{"msg":"  }"}\n{"msg":"\\"x\\""}\n',
  'output by its name':
    '{"db_password":{"type":"string","value":"Tr0ub4dor"},"port":{"type":"number","value":5432}}',
  'connection string of SQL Server': 'Server=x;UID=sa;PWD=Tr0ub4dor;Encrypt=true',
  'bytes of Python': "{'password': b'Tr0ub4dor', 'port': 5432}",
  'user of curl': 'curl -s -u bob:Tr0ub4dor https://x/y',
  'login of docker': 'docker login r.example.com -u bob -p Tr0ub4dor && docker pull x',
  'login in a list': '["docker","login","-u","bob","-p","Tr0ub4dor","r.example.com"]',
  'quoted login of docker':
    'docker login -u bob -p "Tr0ub4dor" r.io; podman login -p \'Tr0ub4dor\'',
  'quoted login in JSON': '{"cmd":"docker login -u bob -p \\"Tr0ub4dor\\" r.io"}',
  'flags of curl in one':
    'curl -sSfu bob:Tr0ub4dor https://x/y?a=1&b=2; curl --proxy-user "bob:Tr0ub4dor" x; curl -U bob:Tr0ub4dor x',
  'quoted mysql':
    'mysql -uroot -p"Tr0ub4dor" a; mariadb -pTr0ub4dor b; mysqldump -p\'Tr0ub4dor\' c',
  'quoted others': 'sshpass -p "Tr0ub4dor" ssh h; redis-cli -a \'Tr0ub4dor\' ping',
  'netrc in JSON': '{"f":"machine h\\nlogin bob\\npassword Tr0ub4dor\\n"}',
  'netrc by default': 'default login bob account x password Tr0ub4dor\n',
  sshpass: 'sshpass -p Tr0ub4dor ssh bob@host',
  mysql: 'mysql -h db -P 3306 -uroot -pTr0ub4dor app',
  redis: 'redis-cli -h x -a Tr0ub4dor ping',
  'literal of kubectl':
    'kubectl create secret generic x --from-literal=foo=Tr0ub4dor --from-literal=bar=Tr0ub4dor',
  netrc: 'machine h.example.com login bob password Tr0ub4dor\nmachine',
  'key of Vault': 'Unseal Key 1: Tr0ub4dorTr0ub4dorTr0ub4dor\nInitial',
  credentials: 'MY_CREDS=Tr0ub4dor\nA=1\n',
  'URL of a proxy': 'HTTPS_PROXY=http://bob:Tr0ub4dor@proxy.example.com:3128\n',
  'URL with a slash in the password': 'proxy http://bob:Tr0/ub4dor@proxy.example.com:3128 refused',
  'URL inside of a URL': 'next=https%3A%2F%2Fbob%3ATr0ub4dor%40example.com%2Fx',
  'token in a URL inside of a URL': 'next=https%3A%2F%2FTr0ub4dor12345678%40github.com%2Facme&x=1',
  'URL without a user inside of a URL':
    'next=https%3A%2F%2F%3ATr0ub4dor%40h&a=https%3A%2F%2Fbob%3ATr0ub4dor%40h',
  'URL in JSON with slashes': '{"u":"https:\\/\\/bob:Tr0ub4dor@example.com\\/x"}',
  'token in a URL': 'git clone https://Tr0ub4dor12345678@github.com/acme/x.git',
  'proxy without scheme': 'proxy: bob:Tr0ub4dor@proxy.example.com:3128\n',
  'encoded user and password': `header Basic ${Buffer.from('bob:Tr0ub4dor').toString('base64')} sent`,
  'docker config': '{"auths":{"r.example.com":{"auth":"VHIwdWI0ZG9yVHIwdWI0ZG9y"}}}',
};

test.each(Object.entries(SECRET))('the secret goes and the rest stays: %s', (_, text) => {
  const output = seen(text);
  expect(output).not.toMatch(/Tr0|ub'?4dor|8675309|VHIwdWI0|Ym9iOlRy/);
  expect(
    output
      .replace(/\[redacted:(?:secret|private-key):[0-9a-f]{8}\]/g, '###')
      .replaceAll('\u001b', 'ESC'),
  ).toMatchSnapshot();
});

/** Keys that only name a secret, values that are none. */
const HARMLESS = [
  'PWD=/agent\nOLDPWD=/home/x/y',
  '{"x":{"sensitive":false,"type":"string","value":"y"},"z":{"sensitive":true,"type":"string"},"a":{"sensitive":false,"value":"b"}}',
  '{"planned_values":{"outputs":{"pw":{"sensitive":true,"type":"string"}},"root":{"values":{"value":"y"}}}}',
  '{"after_sensitive":true,"x":[{"name":"a","value":"y"}]}',
  '{"attributes":{"pw":{"type":"string","sensitive":true},"value":{"type":"string","optional":true}}}',
  'curl -u bob https://x:8080/y',
  'docker login r.io && docker run -p 8080:8080 x',
  'aws sso login && mkdir -p build/out',
  'ssh login@host -p 2222',
  'curl https://x/y && docker run -u name:1000 x',
  'mysql client -protocol=tcp -port 3306',
  'the docker login of bob -p',
  'mysql -h db -P 3306 --protocol=tcp',
  'this machine has a login for bob',
  'Unseal Key missing',
  "SCALR_AGENT_TOKEN:  <set to the key 'token' in secret 'scalr-agent-token'>  Optional: false",
  'extraEnv:\n  SCALR_AGENT_DEBUG: "1"\nSCALR_AGENT_DEBUG=true\n',
  '{"name":"SCALR_AGENT_DEBUG","value":"true"}',
  'secretName: scalr-agent-token',
  'tokenSecretKey: token',
  'existingSecret: scalr-agent-token',
  'existingSecret:\n  name: scalr-agent-token\n  secretKey: token',
  'secretKeyRef:\n  name: scalr-agent-token\n  key: token',
  'imagePullSecrets:\n- name: regcred',
  '- name: SCALR_AGENT_TOKEN\n  valueFrom:\n    secretKeyRef:\n      name: scalr-agent-token\n      key: token',
  '- name: PORT\n  value: "5432"\n- name: DB_PASSWORD\n  valueFrom: {}\n- value: "x-y-z"\n  name: HOST',
  '{"name":"API_TOKEN","valueFrom":{"secretKeyRef":{"name":"x","key":"token"}}}',
  'automountServiceAccountToken: false',
  'serviceAccountToken:\n  expirationSeconds: 3607\n  path: token',
  'token: ""',
  'token: null',
  'token:',
  'password: (sensitive value)',
  '  ~ password = (sensitive value)',
  '  + secret_key = (known after apply)',
  '  + token = <sensitive>',
  'token: [hidden]',
  'token: [redacted:token:3f2a91c0]',
  'token: ***',
  'token: "***"',
  'password = var.db_password',
  'password = random_password.db.result',
  'token = "\u0024{var.token}"',
  'token: $(SCALR_AGENT_TOKEN)',
  'token: \u0024{SCALR_AGENT_TOKEN}',
  'token: {{ .Values.agent.token }}',
  'tokens: 42',
  '"max_tokens": 4096',
  'token_count=1200',
  'token_ttl: 3600',
  'tokenPath: /var/run/secrets/token',
  'token_file=/var/run/secrets/token',
  '--token-file /etc/token --token-secret scalr-agent-token',
  'password_policy: strong',
  'publicKey: ssh-rsa AAAAB3Nza',
  'primary_key: id',
  'cache-key: linux-amd64-go',
  'authentication: required',
  'failed to get token: context deadline exceeded',
  'Error: invalid token: unexpected end of input',
  'secret "scalr-agent-token" not found',
  'MountVolume.SetUp failed for volume "token" : secret "scalr-agent-token" not found',
  'pull access denied, repository does not exist or may require authorization: server message: insufficient_scope',
  'random_password.password: Creating...',
  'random_password.password: Creation complete after 0s [id=none]',
  'aws_secretsmanager_secret.token: Refreshing state... [id=arn:aws:secretsmanager:us-east-1:123456789012:secret:db-x7]',
  'Bearer authentication is not supported, bearer token missing',
  'Basic authentication required',
  'git::ssh://git@github.com/acme/modules.git//vpc?ref=v1.2.0',
  'docker-pullable://registry.example.com:5000/scalr/agent@sha256:0123456789abcdef',
  'https://proxy.golang.org:443/mod/@v/list',
  'https://<user>:<password>@proxy.example.com:3128',
  'https://***@proxy.example.com:3128',
  'https://\u0024{USER}:\u0024{PASSWORD}@proxy.example.com',
  'pass: all 2 nodes',
  'conn_str = "postgres://db.example.com/app"',
];

describe('what names a secret or is none stays', () => {
  test.each(HARMLESS)('%s', (text) => {
    expect(seen(text)).toBe(text);
    expect(seen(`{"event": ${JSON.stringify(text)}, "level": "info"}\n`)).toBe(
      `{"event": ${JSON.stringify(text)}, "level": "info"}\n`,
    );
  });
});

test('redacting twice changes nothing', () => {
  for (const text of Object.values(SECRET)) expect(seen(seen(text))).toBe(seen(text));
});
