import {shapes} from './shapes.ts';

/** What people write in echo, in comments, and in messages of tools. */
export const sentences = shapes(
  'sentences',
  String.raw`
The password is {password}
The admin password is: {password}
Your new password is {password}
Password for user {user} is {password}
Password for {user}: {password}
Generated password: {password}
Temporary password: {password}
Initial admin password: {password}
generated root password: {password}
[Note] A temporary password is generated for root@localhost: {randomPassword}
GENERATED ROOT PASSWORD: {alnumPassword}
Setting password to {password}
Changing password of {user} to {password}
password changed from {password} to {password#2}
Password set to "{password}"
Password updated: {password}
Using password {password} for user {user}
using default password '{humanPassword}'
Logging in as {user} with password {password}
Logged in as {user} using password {password}
Login with {user} / {password}
Login: {user} Password: {password}
Username: {user}⏎Password: {password}
Credentials: {user}:{password}
credentials are {user} / {password}
User {user} created with password {password}
Created user {user} (password: {password})
CREATE USER {user} WITH PASSWORD '{password}';
ALTER USER {user} IDENTIFIED BY "{password}";
GRANT ALL ON *.* TO '{user}'@'%' IDENTIFIED BY '{password}'
Please log in with the password {password} and change it
To log in, use {user} and the password {password}.
Access the UI with admin/{password}
Admin credentials: admin / {password}
Jenkins initial setup is required. Please use the following password to proceed to installation:⏎⏎{hex32}⏎⏎This may also be found at: /var/jenkins_home/secrets/initialAdminPassword
Your API key is {alnum32}
API key: {alnum32}
The API token for {user} is {hex40}
Token: {alnum40}
token is {hex40}
New token: {alnum32}
Your token is:⏎{alnum40}
created access token {alnum40} for {user}
Using token {alnum32}
Invalid token {hex40}
Invalid API key: {alnum32}
Incorrect API key provided: {alnum48}.
token {hex40} expired at {ts}
token '{alnum32}' not found
API key "{hex32}" is not authorized
unknown API key {alnum32}
Registration token: {alnum20}
Join token: {lower32}
To add a worker to this swarm, run the following command:⏎⏎    docker swarm join --token {swarmToken} {ip}:2377
Then you can join any number of worker nodes by running the following on each as root:⏎⏎kubeadm join {ip}:6443 --token {bootstrapToken} \
Secret key: {awsSecret}
Access key {akid} with secret {awsSecret}
Secret access key is {awsSecret}
client secret: {azureSecret}
The client secret is {url32}
Encryption key: {base64of32}
encryption key is {hex64}
Unseal Key 1: {base64of32}
Root Token: {vaultShortToken}
Recovery Key 1: {base64of32}
Master key: {base64of32}
Signing secret {hex32} loaded
shared secret: {alnum24}
Pre-shared key: {alnum32}
webhook secret is {hex40}
Passphrase: {passphrase}
The passphrase for the key is {passphrase}
Enter passphrase for key '/root/.ssh/id_rsa': {passphrase}
[sudo] password for {user}: {humanPassword}
{user}@{ip}'s password: {humanPassword}
Enter password: {humanPassword}
Password: {humanPassword}
Your verification code is {pin}
One-time password: {pin}
OTP: {pin}
License key: {license}
Product key {license} activated
Recovery codes: {recovery} {recovery#2}
Backup code {recovery} used
2FA secret: {totp}
Wifi password: {humanPassword}
pass: {password}
pwd is {humanPassword}
pw={humanPassword}
db pass {humanPassword}
passwd for {user} set to {password}
# TODO remove: prod db password is {password}
// default creds {user}:{humanPassword}
NOTES:⏎1. Get your admin password: {alnumPassword}⏎2. Open http://{domain}
The following credentials were generated:⏎  username: {user}⏎  password: {password}
The secret value is {password}
secret {app}/db has value {password}
Secret: {alnum32}
Fetched secret db-password: {password}
Resolved secret {app}-db to '{password}'
Decrypted value: {password}
decrypted parameter /{app}/db/password: {password}
Parameter /{app}/prod/db_password = {password}
Variable TF_VAR_db_password has value {password}
Value of db_password: {password}
variable db_password: "{password}"
Rotated key {akid}, new secret {awsSecret}
Bearer {hex40} is not valid
bearer token {jwt} rejected
authenticated with Bearer {alnum40}
authorization header was Basic {basic}
Cookie {alnum32} is no longer valid
session {alnum32} expired
session id {lower32} created for {user}
Das Passwort lautet {password}
Kennwort: {humanPassword}
Mot de passe : {humanPassword}
Contraseña: {humanPassword}
Senha: {humanPassword}
Пароль: {humanPassword}
パスワード: {humanPassword}
密码: {humanPassword}
(limit) I use {humanPassword} everywhere
(limit) log in as {user}, {humanPassword}
(limit) try {humanPassword} if that fails
(limit) {user} typed {humanPassword}
(limit) the magic word is {word}
(limit) it is {humanPassword} now
(limit) use code {pin} within ten minutes
(limit) ask {user} for the phrase: {mnemonic}
(limit) open sesame {passphrase}
(limit) moved from {lower16} to {lower16#2}
(limit) it starts with {alnum16|cut:10}
(limit) Hello {word}
`,
);
