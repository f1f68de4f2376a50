import {shapes} from './shapes.ts';

/** Tokens that no key announces. */
export const bareTokens = shapes(
  'tokens without a key',
  `
{githubPat}
{githubFine}
using {githubApp} to clone
received {githubOauth} from exchange
{gitlabPat}
runner {gitlabRunner} verified
{gitlabOldRunner}
job {num} started with {gitlabJob}
{gitlabDeploy}
{bitbucketApp}
{bitbucketAccess}
{npmToken}
{pypiToken}
{dockerPat}
{slackBot}
notify via {slackBot} failed: channel_not_found
{stripeKey}
{sendgridKey}
{mailgunKey}
{newRelicKey}
{newRelicLicense}
{vaultToken}
{vaultShortToken}
renewed {vaultToken} for 768h
{vaultOldToken}
{vaultBatch}
{tfcToken}
agent {tfcToken} registered
{scalrToken}
{digitalOceanToken}
{databricksToken}
{grafanaToken}
{grafanaCloud}
{sonarToken}
{artifactoryKey}
{artifactoryToken}
{pulumiToken}
{dopplerToken}
{openaiKey}
{anthropicKey}
{huggingFace}
{linearKey}
{ageKey}
{onePasswordToken}
{rubygemsKey}
{telegramToken}
{infracostKey}
{planetscale}
{shopify}
{postmanKey}
{launchDarkly}
{gcpApiKey}
{gcpAccessToken}
{gcpRefreshToken}
{googleClientSecret}
{azureSecret}
{azureStorageKey}
{azureStorageKey} {azureStorageKey#2}
{azureCosmosKey}
{azureDevopsPat}
{awsSecret}
{akid} {awsSecret}
{akid}:{awsSecret}
{akid},{awsSecret}
{akid}⏎{awsSecret}
{asia}/{awsSecret}/{awsSession}
{awsSession}
{awsEcrPassword}
{jwt}
{hsJwt}
{k8sToken}
got {oidcToken}
[debug] {azureAccessToken}
"{jwt}"
exchange {hsJwt} -> {alnum64}
{dockerAuth}
{gzipped}
{kubeconfigKey}
{bootstrapToken}
sha256~{url32}
{k3sToken}
{swarmToken}
{sha512crypt}
{bcrypt}
{apr1}
{scram}
{mysqlHash}
{flyToken}
{herokuKey}
{oktaToken}
{base64of32}
{base64of48}
{base64of64}
value is {base64of32}
-> {base64of64}
{url32}
{url64}
{alnum40}
{alnum48}
{alnum64}
"{alnum40}"
[{alnum40}]
- {alnum40}
  {alnum48}
1: {alnum40}
result: {alnum40}
output => {alnum64}
stdout: {base64of32}
{randomPassword}
generated {randomPassword}
-> {randomPassword}
echo '{randomPassword}'
{user}:{randomPassword}
{user}:{alnum24}
{user} / {randomPassword}
(limit) {hex64}
(limit) {hex128}
{cookie}
(limit) {jenkinsToken}
{cloudflareToken}
created: {alnum32}
{alnum32}
{wireguard}
["{githubPat}","{gitlabPat}"]
{githubPat},{npmToken},{pypiToken}
from {vaultToken} to {vaultToken#2}
{dollar}{vaultToken}
{tick}{githubPat}{tick}
<{githubPat}>
({slackBot})
{npmToken};
{githubPat}.
'{stripeKey}':
{gitlabPat}/
x{tick}={tick}{jwt}
(limit) {uuid}
(limit) {hex32}
(limit) {hex40}
(limit) {alnum20}
(limit) {alnum16}
(limit) {base64of16}
(limit) {base64of24}
(limit) {upper24}
(limit) {lower32}
(limit) {totp}
(limit) {license}
(limit) {recovery}
(limit) {appPassword}
(limit) {mnemonic}
(limit) {humanPassword}
(limit) {passphrase}
(limit) {pin}
(limit) > {humanPassword}
(limit) {num} {lower16} ok
`,
);
