import {join} from 'node:path';
import {type ExpectedError, failed, onFailure} from '../../ground/errors.ts';
import {isFields, jsonIn} from '../../ground/json.ts';
import {isPoolToken, Secret} from '../../ground/secret.ts';
import type {Files} from '../../ground/system/system.ts';
import {few} from '../../ground/text.ts';
import {bareToken} from '../../ground/token-text.ts';

/** The token of a user or a service account, and the account it is for. It must never leave this process except to that account. */
export interface Credential {
  /** Host name, with its port if there is one; undefined if SCALR_HOSTNAME is not set. */
  host: string | undefined;
  token: Secret;
  /** Variable or file. */
  source: string;
  /** Of scalr.conf. */
  profile?: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

interface CredentialDeps {
  env: Environment;
  files: Pick<Files, 'read' | 'kindOf'>;
  /** Gets the paths of files in directories that the user may not read. */
  onUnread?: (path: string) => void;
}

interface Wanted {
  /** URL of the account; without it, the host of the credential is used. */
  url?: string | undefined;
  /** The user has stated the URL, so SCALR_TOKEN is sent there even without SCALR_HOSTNAME. */
  isStated: boolean;
}

/**
 * The credential for an account, from the sources of scalr-cli and of the Scalr Terraform provider: SCALR_TOKEN, then the files, then
 * TF_TOKEN_<host>. Undefined if there is none for this host. @throws ExpectedError if two differ, or a file is invalid
 */
export async function findCredential(
  {url, isStated}: Wanted,
  deps: CredentialDeps,
): Promise<(Credential & {host: string}) | undefined> {
  const {env} = deps;
  const given = fromVariables(env);
  if (given !== undefined && (url === undefined || isStated)) refusePoolToken(given, env);
  const stored = [
    ...(await fromScalrConf(deps)),
    ...(await fromTerraform(deps)),
    ...fromTerraformVariables(env),
  ];
  const host =
    url === undefined ? (hostOf(env['SCALR_HOSTNAME']) ?? onlyHost(stored)) : new URL(url).host;
  if (host === undefined) return undefined;
  if (given !== undefined && (given.host === host || (given.host === undefined && isStated))) {
    refusePoolToken(given, env);
    return {...given, host};
  }
  const [first, ...others] = stored.filter((each) => each.host === host);
  if (first === undefined) return undefined;
  refusePoolToken(first, env);
  const other = others.find(({token}) => token.reveal() !== first.token.reveal());
  if (other !== undefined) throw twoTokens(host, first, other);
  return {...first, host};
}

/** Every token of a user or a service account on this machine, whatever its host: none may leave it. Invalid files are ignored. */
export async function storedTokens({env, files}: CredentialDeps): Promise<Secret[]> {
  const given = fromVariables(env);
  // All profiles, not only the selected one.
  const all = {env: {...env, SCALR_PROFILE: undefined}, files};
  const stored = await Promise.all(
    [fromScalrConf(all), fromTerraform(all)].map(async (reading) =>
      reading.catch(onFailure(() => [])),
    ),
  );
  return [
    ...(given === undefined ? [] : [given]),
    ...stored.flat(),
    ...fromTerraformVariables(env),
  ].map(({token}) => token);
}

/** SCALR_TOKEN was once the name of the variable for agent pool tokens. @throws ExpectedError */
function refusePoolToken(
  {token, source}: Credential,
  {SCALR_AGENT_TOKEN: agentToken}: Environment,
): void {
  if (!isPoolToken(token) && token.reveal() !== bareToken(agentToken ?? '')) return;
  throw failed(
    'NO_CREDENTIAL',
    `${source} contains an agent pool token, which has no access to the Scalr API.`,
    [
      'Set SCALR_TOKEN to the token of a user or service account',
      'Set SCALR_AGENT_TOKEN to the agent pool token',
    ],
  );
}

function fromVariables({
  SCALR_TOKEN: token,
  SCALR_HOSTNAME: host,
}: Environment): Credential | undefined {
  const text = bareToken(token ?? '');
  return text ? {host: hostOf(host), token: new Secret(text), source: 'SCALR_TOKEN'} : undefined;
}

/** Users write a host name or the URL of the account. */
function hostOf(text: string | undefined): string | undefined {
  const host = text
    ?.trim()
    .replace(/^https?:\/\//i, '')
    .replace(/\/.*$/, '')
    .toLowerCase();
  return host || undefined;
}

/**
 * ~/.scalr/scalr.conf of scalr-cli: `{hostname, token}`, or such an object for each profile. SCALR_PROFILE selects one.
 * https://github.com/Scalr/scalr-cli (main.go)
 */
async function fromScalrConf(deps: CredentialDeps): Promise<Credential[]> {
  const {env} = deps;
  const home = homeOf(env);
  if (home === undefined) return [];
  const path = join(home, '.scalr', 'scalr.conf');
  const text = await textOf(path, deps);
  if (text === undefined) return [];
  const content = fieldsIn(text, path);
  const profiles = 'token' in content || 'hostname' in content ? {default: content} : content;
  const {SCALR_PROFILE: chosen} = env;
  if (chosen && profiles[chosen] === undefined) {
    throw failed('NO_CREDENTIAL', `${path} has no profile ${chosen}.`, [
      `Set SCALR_PROFILE to one of ${Object.keys(profiles).join(', ')}`,
    ]);
  }
  // The default profile comes first, so that it determines the host.
  const names = chosen
    ? [chosen]
    : Object.keys(profiles).toSorted(
        (one, other) => Number(other === 'default') - Number(one === 'default'),
      );
  return names.flatMap((name) => {
    const {hostname, token} = isFields(profiles[name]) ? profiles[name] : {};
    const source = names.length === 1 ? path : `${path} (profile ${name})`;
    return credentialOf(hostname, token, source).map((each) => ({...each, profile: name}));
  });
}

/** Files of Terraform; the Scalr provider reads the same. https://developer.hashicorp.com/terraform/cli/config/config-file */
async function fromTerraform(deps: CredentialDeps): Promise<Credential[]> {
  const {APPDATA: roaming, TF_CLI_CONFIG_FILE, TERRAFORM_CONFIG} = deps.env;
  const base = roaming ?? homeOf(deps.env);
  const inHome = (...names: string[]): string[] =>
    base === undefined ? [] : [join(base, ...names)];
  const config = TF_CLI_CONFIG_FILE || TERRAFORM_CONFIG;
  const paths = [
    ...inHome(roaming === undefined ? '.terraform.d' : 'terraform.d', 'credentials.tfrc.json'),
    ...(config ? [config] : inHome(roaming === undefined ? '.terraformrc' : 'terraform.rc')),
  ];
  return (await Promise.all(paths.map(async (path) => terraformCredentials(path, deps)))).flat();
}

async function terraformCredentials(path: string, deps: CredentialDeps): Promise<Credential[]> {
  const text = await textOf(path, deps);
  if (text === undefined) return [];
  if (path.endsWith('.json')) {
    const hosts = fieldsIn(text, path)['credentials'];
    return Object.entries(isFields(hosts) ? hosts : {}).flatMap(([host, entry]) =>
      credentialOf(host, isFields(entry) ? entry['token'] : undefined, path),
    );
  }
  // HCL; each block is flat.
  const blocks = text
    .replace(/^\s*(#|\/\/).*$/gm, '')
    .matchAll(/\bcredentials\s+"([^"]+)"\s*\{([^}]*)\}/g);
  return [...blocks].flatMap(([, host, body = '']) =>
    credentialOf(host, /\btoken\s*=\s*"([^"]*)"/.exec(body)?.[1], path),
  );
}

/** TF_TOKEN_acme_scalr_io: a dot is written as _, a hyphen as __. */
const fromTerraformVariables = (env: Environment): Credential[] =>
  Object.entries(env).flatMap(([name, token]) => {
    const [, encoded] = /^TF_TOKEN_(.+)$/.exec(name) ?? [];
    return encoded === undefined
      ? []
      : credentialOf(encoded.replaceAll('__', '-').replaceAll('_', '.'), token, name);
  });

function credentialOf(host: unknown, token: unknown, source: string): Credential[] {
  const name = typeof host === 'string' ? hostOf(host) : undefined;
  const text = typeof token === 'string' ? bareToken(token) : '';
  return name === undefined || text === '' ? [] : [{host: name, token: new Secret(text), source}];
}

/** The host of the default profile, or the only account; the files of Terraform can contain other hosts. @throws ExpectedError */
function onlyHost(stored: readonly Credential[]): string | undefined {
  const first = stored.find(({profile}) => profile !== undefined);
  if (first !== undefined) return first.host;
  const hosts = [...new Set(stored.map(({host}) => host))].filter(
    (host) => host !== undefined && /(^|\.)scalr\.(io|com)$/.test(host),
  );
  if (hosts.length <= 1) return hosts[0];
  throw failed('NO_CREDENTIAL', `Found tokens for several Scalr accounts: ${hosts.join(', ')}.`, [
    `Select the account, for example with --url https://${hosts[0]}`,
  ]);
}

const homeOf = ({HOME, USERPROFILE}: Environment): string | undefined =>
  HOME || USERPROFILE || undefined;

/** Undefined if there is no such file. The home directory can be the one of another user: with `docker run --user`, it is often /root. */
async function textOf(
  path: string,
  {files, onUnread = () => undefined}: CredentialDeps,
): Promise<string | undefined> {
  const kind = await files.kindOf(path).catch(
    onFailure(() => {
      onUnread(path);
      return 'nothing' as const;
    }),
  );
  return kind === 'nothing' ? undefined : (await files.read(path)).toString('utf8');
}

/** The message does not quote the file, which contains tokens. */
function fieldsIn(text: string, path: string): Readonly<Record<string, unknown>> {
  const content = jsonIn(text);
  if (isFields(content)) return content;
  throw failed('NO_CREDENTIAL', `${path} is not a JSON object.`, [
    'Correct the file, or set SCALR_HOSTNAME and SCALR_TOKEN',
  ]);
}

const twoTokens = (host: string, one: Credential, other: Credential): ExpectedError =>
  failed(
    'NO_CREDENTIAL',
    `${one.source} and ${other.source} contain different tokens for ${host}.`,
    [
      'Remove one of the two',
      'Set SCALR_HOSTNAME and SCALR_TOKEN, which take precedence',
      ...profileAdvice(one, other),
    ],
  );

const profileAdvice = (...all: readonly Credential[]): string[] =>
  all.every(({profile}) => profile !== undefined) ? ['Select a profile with SCALR_PROFILE'] : [];

/** SCALR_TOKEN without SCALR_HOSTNAME, and only a file names the host. */
export const unstatedHost = (url: string): ExpectedError => {
  const {host} = new URL(url);
  return failed(
    'NO_CREDENTIAL',
    `SCALR_TOKEN is not sent to ${host}: only an answers file names this host.`,
    [`Set SCALR_HOSTNAME=${host} if the token is for this account`],
  );
};

/** No source has a token for the account. */
export const noCredential = (
  url: string | undefined,
  unread: readonly string[] = [],
): ExpectedError => {
  const unreadText = unread.length === 0 ? '' : ` Not read (permission denied): ${few(unread)}.`;
  if (url === undefined)
    return failed('NO_CREDENTIAL', `No Scalr API token found.${unreadText}`, [
      'Set SCALR_HOSTNAME to your account host (for example acme.scalr.io), and SCALR_TOKEN to a user or service account token',
      'Or log in with terraform login and the host of your account',
    ]);
  const {host} = new URL(url);
  return failed('NO_CREDENTIAL', `No Scalr API token found for ${host}.${unreadText}`, [
    `Set SCALR_HOSTNAME=${host} and SCALR_TOKEN to the token of a user or service account`,
    `Log in with Terraform: terraform login ${host}`,
  ]);
};
