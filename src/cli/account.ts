import * as Flags from '@oclif/core/flags';
import type {ScalrClient} from '../extensions/account/client.ts';
import {
  type Credential,
  findCredential,
  noCredential,
  storedTokens,
  unstatedHost,
} from '../extensions/account/credentials.ts';
import type {ScalrRoute} from '../extensions/account/route.ts';
import {failed} from '../ground/errors.ts';
import {url} from '../settings/agent.ts';
import {proxyFor} from '../settings/kinds/no-proxy.ts';
import {httpProxy, httpsProxy, noProxy} from '../settings/network.ts';
import type {Settings} from '../settings/settings.ts';
import {caFile} from '../settings/tls.ts';
import type {App} from './app.ts';
import {answersFlag} from './flags.ts';

/** Any credential of this machine, whatever its host. @throws ExpectedError */
export async function requireCredential(app: Pick<App, 'env' | 'files'>): Promise<void> {
  if ((await storedTokens(app)).length === 0) throw noCredential(undefined);
}

/** Settings that determine how the account is reached. */
export const ACCOUNT_SETTINGS = [url, caFile, httpProxy, httpsProxy, noProxy];

const helpGroup = 'CONNECTION';

/** For commands that only use the account; their texts do not mention values.yaml. */
export const accountFlags = {
  ...answersFlag,
  url: Flags.string({
    summary: 'Scalr URL. Default: the account of your token.',
    helpValue: '<URL>',
    helpGroup,
  }),
  'ca-file': Flags.string({
    summary: 'CA certificates of Scalr or of the proxy, PEM or DER.',
    helpValue: '<PATH>',
    helpGroup,
  }),
  'https-proxy': Flags.string({
    summary: 'Proxy to Scalr. Default: HTTPS_PROXY.',
    helpValue: '<URL>',
    helpGroup,
  }),
  'no-proxy': Flags.string({
    summary: 'Hosts that bypass the proxy. Default: NO_PROXY.',
    helpValue: '<HOST,...>',
    helpGroup,
  }),
};

/** For commands that use the account if they find a token for it. */
export const accountFlag = (summary: string) => ({
  account: Flags.boolean({summary, default: true, allowNo: true}),
});

interface ConnectOptions {
  app: Pick<App, 'env' | 'files' | 'sleep'>;
  /** Of this program. */
  version: string;
  signal: AbortSignal;
}

/** The account of this host, else of --url, else of the credential. @throws ExpectedError if there is no credential */
export async function connectAccount(
  settings: Settings,
  options: ConnectOptions,
  host?: string,
): Promise<ScalrClient> {
  const address = host === undefined ? settings.get(url) : `https://${host}`;
  // Whoever can change an answers file must not receive the token.
  const isFromFile = host === undefined && settings.answer(url)?.source === 'answers';
  const isStated = host === undefined && settings.isExplicit(url) && !isFromFile;
  const unread: string[] = [];
  const onUnread = (path: string): void => void unread.push(path);
  const {env, files} = options.app;
  const credential = await findCredential({url: address, isStated}, {env, files, onUnread});
  if (credential !== undefined) return accountClient(credential, settings, options);
  const isUnstated = isFromFile && env['SCALR_TOKEN'] && !env['SCALR_HOSTNAME'];
  throw address !== undefined && isUnstated ? unstatedHost(address) : noCredential(address, unread);
}

async function accountClient(
  {host, source, token}: Credential & {host: string},
  settings: Settings,
  {app, version, signal}: ConnectOptions,
): Promise<ScalrClient> {
  const {ScalrClient} = await import('../extensions/account/client.ts');
  return new ScalrClient({
    host,
    source,
    token,
    version,
    signal,
    sleep: app.sleep,
    route: await routeOf(host, settings, app),
  });
}

/** The cluster answers first, so a slow account must not keep the user waiting. */
const OPTIONAL_TIMEOUT_MS = 10_000;

/** The account of this address, if there is a token for exactly this host; without an address, the only account that there is a token for. Otherwise nothing is contacted. @throws ExpectedError */
export async function optionalAccount(
  address: string | undefined,
  settings: Settings,
  {app, version, timeoutMs}: Pick<ConnectOptions, 'app' | 'version'> & {timeoutMs: number},
): Promise<ScalrClient | undefined> {
  const credential = await findCredential({url: address, isStated: false}, app);
  if (credential === undefined) return undefined;
  return accountClient(credential, settings, {
    app,
    version,
    signal: AbortSignal.timeout(Math.min(timeoutMs, OPTIONAL_TIMEOUT_MS)),
  });
}

/** Settings come first, then the variables that curl and helm read. */
async function routeOf(
  host: string,
  settings: Settings,
  {env, files}: Pick<App, 'env' | 'files'>,
): Promise<ScalrRoute> {
  const variable = (name: string): string | undefined =>
    env[name] || env[name.toLowerCase()] || undefined;
  const own = settings.get(caFile);
  const {SSL_CERT_FILE: bundle, NODE_EXTRA_CA_CERTS: extra} = env;
  // Node.js adds NODE_EXTRA_CA_CERTS only to its default list.
  const paths = [bundle, ...(own || bundle ? [extra] : [])].filter(
    (path) => path !== undefined && path !== '',
  );
  const ca = await Promise.all(
    [...new Set(paths)].map(async (path) => String(await files.read(path as string))),
  );
  const https = settings.get(httpsProxy) ?? proxyOf(variable('HTTPS_PROXY'));
  const excluded = [...(settings.get(noProxy) ?? []), ...(variable('NO_PROXY') ?? '').split(',')];
  return {
    proxy: proxyFor(new URL(`https://${host}`), {https, http: undefined, excluded}),
    ca: [...(own === undefined ? [] : [own]), ...ca],
  };
}

/** Like curl, accepts HOST:PORT. @throws ExpectedError that does not quote a password */
function proxyOf(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const address = text.includes('://') ? text : `http://${text}`;
  if (
    URL.canParse(address) &&
    /^https?:$/.test(new URL(address).protocol) &&
    !/%(?![0-9a-f]{2})/i.test(address)
  )
    return address;
  throw failed('INVALID_SETTING', 'HTTPS_PROXY is not the URL of an HTTP proxy.', [
    'Use the format http://proxy.example.com:3128',
    'Or set --https-proxy',
  ]);
}
