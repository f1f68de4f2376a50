import type {Random} from './random.ts';

type Make = (random: Random) => string;

/** A prefix in two pieces, so that no scanner of a hosting service takes this file for a find. */
const after =
  (start: string, rest: string, alphabet: string, length: number): Make =>
  (random) =>
    `${start}${rest}${random.signs(alphabet, length)}`;

const base64url = (value: object): string =>
  Buffer.from(JSON.stringify(value)).toString('base64url');

function jwt(random: Random, claims: object, algorithm = 'RS256', signature = 342): string {
  return [
    base64url({alg: algorithm, kid: random.signs('url', 27), typ: 'JWT'}),
    base64url(claims),
    random.signs('url', signature),
  ].join('.');
}

const epoch = (random: Random): number => 1_790_000_000 + random.below(5_000_000);

export const VENDOR_TOKENS: Readonly<Record<string, Make>> = {
  awsSecret: (random) => random.signs('base64', 40),
  awsSession: (random) =>
    `IQoJb3JpZ2lu${'X2Vj'}E${random.signs('base64', random.between(300, 420))}==`,
  awsEcrPassword: (random) => `eyJwYXlsb2FkIjoi${random.signs('base64', 700)}`,
  azureSecret: (random) => `${random.signs('alnum', 3)}8Q~${random.signs('url', 34)}`,
  azureStorageKey: (random) => random.bytes(64).toString('base64'),
  azureSharedKey: (random) => random.bytes(32).toString('base64'),
  azureDevopsPat: (random) => random.signs('lowerDigits', 52),
  azureCosmosKey: (random) => `${random.signs('base64', 76)}ACDb${random.signs('alnum', 6)}==`,
  gcpApiKey: after('AI', 'za', 'url', 35),
  gcpAccessToken: after('ya', '29.c.c0A', 'url', 180),
  gcpRefreshToken: after('1', '//0g', 'url', 96),
  googleClientSecret: after('GOC', 'SPX-', 'url', 28),
  jwt: (random) => jwt(random, {aud: 'api://default', exp: epoch(random), sub: random.uuid()}),
  hsJwt: (random) => jwt(random, {user_id: random.below(9000), exp: epoch(random)}, 'HS256', 43),
  k8sToken: (random) =>
    jwt(random, {
      aud: ['https://kubernetes.default.svc'],
      exp: epoch(random),
      iss: 'https://kubernetes.default.svc.cluster.local',
      'kubernetes.io': {namespace: 'scalr', serviceaccount: {name: 'agent', uid: random.uuid()}},
      sub: 'system:serviceaccount:scalr:agent',
    }),
  azureAccessToken: (random) =>
    jwt(random, {
      aud: 'https://management.azure.com/',
      iss: `https://sts.windows.net/${random.uuid()}/`,
      exp: epoch(random),
    }),
  oidcToken: (random) =>
    jwt(random, {
      iss: 'https://scalr.io',
      sub: 'account:acme:environment:prod',
      aud: 'aws',
      exp: epoch(random),
    }),
  githubPat: after('gh', 'p_', 'alnum', 36),
  githubFine: (random) =>
    `${'github'}_pat_${random.signs('upperDigits', 22)}_${random.signs('alnum', 59)}`,
  githubApp: after('gh', 's_', 'alnum', 36),
  githubOauth: after('gh', 'o_', 'alnum', 36),
  gitlabPat: after('gl', 'pat-', 'url', 20),
  gitlabRunner: after('gl', 'rt-', 'url', 20),
  gitlabOldRunner: after('GR1348', '941', 'url', 20),
  gitlabJob: after('gl', 'cbt-64_', 'url', 20),
  gitlabDeploy: after('gl', 'dt-', 'url', 20),
  bitbucketApp: after('AT', 'BB', 'alnum', 32),
  bitbucketAccess: after('AT', 'CTT3xFfGN0', 'url', 170),
  npmToken: after('np', 'm_', 'alnum', 36),
  pypiToken: after('py', 'pi-AgEIcHlwaS5vcmcC', 'url', 140),
  dockerPat: after('dckr', '_pat_', 'url', 27),
  slackBot: (random) =>
    `${'xo'}xb-${random.signs('digits', 12)}-${random.signs('digits', 13)}-${random.signs('alnum', 24)}`,
  slackPath: (random) =>
    `T${random.signs('upperDigits', 10)}/B${random.signs('upperDigits', 10)}/${random.signs('alnum', 24)}`,
  discordPath: (random) => `${random.signs('digits', 19)}/${random.signs('url', 68)}`,
  stripeKey: after('sk', '_live_51', 'alnum', 99),
  sendgridKey: (random) => `${'S'}G.${random.signs('url', 22)}.${random.signs('url', 43)}`,
  mailgunKey: after('ke', 'y-', 'hex', 32),
  newRelicKey: after('NR', 'AK-', 'upperDigits', 27),
  newRelicLicense: (random) => `${random.signs('hex', 36)}NRAL`,
  vaultToken: after('hv', 's.', 'url', 91),
  vaultShortToken: after('hv', 's.', 'alnum', 24),
  vaultOldToken: after('s', '.', 'alnum', 24),
  vaultBatch: after('hv', 'b.AAAAAQ', 'url', 130),
  tfcToken: (random) => `${random.signs('alnum', 14)}.atlas${'v1'}.${random.signs('alnum', 67)}`,
  digitalOceanToken: after('do', 'p_v1_', 'hex', 64),
  cloudflareToken: (random) => random.signs('url', 40),
  cloudflareKey: (random) => random.signs('hex', 37),
  datadogKey: (random) => random.signs('hex', 32),
  datadogAppKey: (random) => random.signs('hex', 40),
  databricksToken: after('da', 'pi', 'hex', 32),
  grafanaToken: (random) => `${'gl'}sa_${random.signs('alnum', 32)}_${random.signs('hex', 8)}`,
  grafanaCloud: (random) => `${'gl'}c_eyJvIjoi${random.signs('alnum', 120)}`,
  sonarToken: after('sq', 'u_', 'hex', 40),
  artifactoryKey: after('AK', 'Cp8', 'alnum', 68),
  artifactoryToken: after('cmVmdGtuOjAx', 'Oj', 'alnum', 50),
  oktaToken: after('0', '0', 'url', 40),
  pagerdutyKey: (random) => random.signs('url', 20),
  pulumiToken: after('pu', 'l-', 'hex', 40),
  dopplerToken: after('dp', '.st.prd.', 'alnum', 43),
  openaiKey: (random) =>
    `${'sk'}-proj-${random.signs('url', 74)}T3BlbkFJ${random.signs('url', 74)}`,
  anthropicKey: after('sk-', 'ant-api03-', 'url', 95),
  huggingFace: after('h', 'f_', 'alnum', 34),
  linearKey: after('lin', '_api_', 'alnum', 40),
  ageKey: after('AGE-SECRET', '-KEY-1', 'bech32', 58),
  onePasswordToken: after('ops', '_eyJ', 'alnum', 200),
  rubygemsKey: after('ruby', 'gems_', 'hex', 48),
  telegramToken: (random) => `${random.signs('digits', 10)}:AA${random.signs('url', 33)}`,
  herokuKey: after('HRKU-', 'AA', 'url', 58),
  k3sToken: (random) => `K10${random.signs('hex', 64)}::server:${random.signs('hex', 32)}`,
  swarmToken: (random) =>
    `${'SWMTKN'}-1-${random.signs('lowerDigits', 50)}-${random.signs('lowerDigits', 25)}`,
  bootstrapToken: (random) =>
    `${random.signs('lowerDigits', 6)}.${random.signs('lowerDigits', 16)}`,
  snykToken: (random) => random.uuid(),
  infracostKey: after('ic', 'o-', 'alnum', 32),
  flyToken: after('fo', '1_', 'url', 43),
  planetscale: after('pscale', '_pw_', 'url', 43),
  atlasKey: (random) => random.uuid(),
  scalrToken: (random) =>
    jwt(random, {iss: 'user', jti: `at-v0${random.signs('alnum', 16)}`}, 'HS256', 43),
  shopify: after('shp', 'at_', 'hex', 32),
  postmanKey: (random) => `${'PM'}AK-${random.signs('hex', 24)}-${random.signs('hex', 34)}`,
  launchDarkly: (random) => `${'s'}dk-${random.uuid()}`,
  sentryDsnKey: (random) => random.signs('hex', 32),
  jenkinsToken: (random) => `11${random.signs('hex', 32)}`,
};
