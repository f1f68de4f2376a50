import {shapes} from './shapes.ts';

/** Clones with credentials in the address, GIT_TRACE, and what curl and wget print. */
export const gitAndCurl = shapes(
  'git and curl',
  `
Cloning into '{repo}'...⏎fatal: Authentication failed for 'https://x-access-token:{githubPat}@github.com/{org}/{repo}.git/'
+ git clone https://{githubPat}@github.com/{org}/{repo}.git
+ git clone --depth=1 https://x-access-token:{githubApp}@github.com/{org}/{repo}.git /tmp/src
+ git clone https://oauth2:{gitlabPat}@gitlab.{domain}/{org}/{repo}.git
+ git clone https://gitlab-ci-token:{gitlabJob}@gitlab.{domain}/{org}/{repo}.git
+ git clone https://gitlab+deploy-token-{num}:{alnum20}@gitlab.{domain}/{org}/{repo}.git
+ git clone https://{user}:{bitbucketApp}@bitbucket.org/{org}/{repo}.git
+ git clone https://x-token-auth:{bitbucketAccess}@bitbucket.org/{org}/{repo}.git
+ git clone https://{org}:{azureDevopsPat}@dev.azure.com/{org}/{repo}/_git/{repo}
+ git clone https://{azureDevopsPat}@dev.azure.com/{org}/{repo}/_git/{repo}
+ git clone https://{user}:{password|url}@git.{domain}/{repo}.git
+ git remote set-url origin https://{user}:{alnum40}@git.{domain}/{org}/{repo}.git
+ git remote add upstream https://oauth2:{alnum20}@git.{domain}/{org}/{repo}
+ git push https://{user}:{githubFine}@github.com/{org}/{repo}.git HEAD:main
+ git submodule update --init⏎fatal: repository 'https://{user}:{alnumPassword}@git.{domain}/{repo}.git/' not found
origin⇥https://{user}:{alnumPassword}@git.{domain}/{repo}.git (fetch)
remote.origin.url=https://oauth2:{gitlabPat}@gitlab.{domain}/{org}/{repo}.git
url.https://{githubPat}@github.com/.insteadof=https://github.com/
+ git config --global url.https://oauth2:{alnum20}@gitlab.{domain}.insteadOf https://gitlab.{domain}
+ git config --global credential.helper '!f() { echo username=x; echo password={githubPat}; }; f'
+ git -c http.extraheader='AUTHORIZATION: basic {basic}' fetch origin
+ git config http.https://github.com/.extraheader 'AUTHORIZATION: bearer {githubApp}'
{time}.123456 http.c:756              => Send header: Authorization: Basic {basic}
{time}.123456 http.c:756              => Send header, 00000{num} bytes⏎=> Send header: authorization: bearer {githubApp}
{time}.123456 run-command.c:655       trace: run_command: git-remote-https origin https://{user}:{alnumPassword}@git.{domain}/{repo}.git
{time}.123456 git.c:439               trace: built-in: git clone https://oauth2:{gitlabPat}@gitlab.{domain}/x.git
{time}.123456 git.c:439               trace: exec: git-credential-store get⏎protocol=https⏎host=github.com⏎username={user}⏎password={githubPat}
protocol=https⏎host=git.{domain}⏎username={user}⏎password={password}
https://{user}:{password|url}@git.{domain}
go: github.com/{org}/{repo}@v1.2.3: git ls-remote -q https://{githubPat}@github.com/{org}/{repo}: exit status 128
Error: Failed to download module⏎⏎Could not download module "vpc" source code from "git::https://{user}:{alnum40}@git.{domain}/{repo}.git?ref=v1": exit status 128
Downloading git::https://oauth2:{gitlabPat}@gitlab.{domain}/{org}/{repo}.git?ref=v2.1.0 for vpc...
- vpc in git::https://x-access-token:{githubApp}@github.com/{org}/{repo}.git//vpc
source  = "git::https://{githubPat}@github.com/{org}/{repo}.git?ref=main"
pip: Collecting git+https://{githubPat}@github.com/{org}/{repo}.git@main
  Running command git clone --filter=blob:none --quiet 'https://oauth2:****@gitlab.{domain}/x.git' /tmp/pip⏎  WARNING: token {gitlabPat} has been revoked
npm ERR! command git --no-replace-objects ls-remote https://{githubPat}@github.com/{org}/{repo}.git
+ curl -u {user}:{password|sh} https://api.{domain}/v1
+ curl --user {user}:{alnumPassword} -sS https://nexus.{domain}/repository/x
+ curl -H 'Authorization: Bearer {hex40}' https://api.{domain}/v1/items
+ curl -sSL -H 'Authorization: token {githubPat}' https://api.github.com/repos/{org}/{repo}
+ curl --header 'PRIVATE-TOKEN: {gitlabPat}' https://gitlab.{domain}/api/v4/projects
+ curl -H 'X-Vault-Token: {vaultToken}' https://vault.{domain}:8200/v1/secret/data/{app}
+ curl -H "X-API-Key: {alnum32}" https://api.{domain}
+ curl -H 'Circle-Token: {hex40}' https://circleci.com/api/v2/me
+ curl -d 'username={user}&password={password|url}' https://{domain}/login
+ curl --data-urlencode 'password={password}' https://{domain}/login
+ curl -X POST -d '{"username":"{user}","password":"{password|json}"}' https://{domain}/api/login
+ curl --data '{"text":"done"}' https://hooks.slack.com/services/{slackPath}
+ curl -F token={alnum32} -F file=@x https://upload.{domain}
+ curl -b 'session={cookie}' https://{domain}/dashboard
+ curl --oauth2-bearer {alnum40} https://api.{domain}
+ curl -x http://{user}:{alnumPassword}@proxy.{domain}:3128 https://{domain}
+ curl --proxy-user {user}:{password|sh} -x proxy:3128 https://{domain}
+ curl --cert client.pem:{humanPassword} https://{domain}
+ curl ftp://{user}:{alnumPassword}@{ip}/pub/
* Server auth using Basic with user '{user}'⏎> GET /api HTTP/1.1⏎> Authorization: Basic {basic}⏎> User-Agent: curl/8.5.0
> POST /login HTTP/1.1⏎> Authorization: Bearer {jwt}⏎> Accept: */*
< Set-Cookie: session={alnum64}; Path=/; Secure
< X-Subject-Token: {hex32}
< {"access_token":"{alnum64}","token_type":"bearer"}
* Connected to proxy (10.0.0.1) port 3128⏎> Proxy-Authorization: Basic {basic}
=> Send data, 64 bytes (0x40)⏎0000: password={alnumPassword}
+ wget --user={user} --password={password|sh} https://{domain}/file.tgz
+ wget --header='Authorization: Bearer {hex40}' https://{domain}/x
+ wget https://{user}:{alnumPassword}@{domain}/file.tgz
--2026-11-24 12:00:00--  https://{domain}/file.tgz?token={hex40}
+ http POST https://{domain}/login username={user} password={password|sh}
+ http -a {user}:{alnumPassword} https://{domain}/api
+ svn checkout --username {user} --password {password|sh} https://svn.{domain}/x
+ hg clone https://{user}:{alnumPassword}@hg.{domain}/x
[url "https://{githubPat}:x-oauth-basic@github.com/"]⏎⇥insteadOf = https://github.com/
(limit) + curl https://{domain}/d/{alnum24}/download
(limit) Username for 'https://git.{domain}': {user}⏎Password for 'https://{user}@git.{domain}':⏎{humanPassword}
(limit) remote: {alnum16}
`,
);
