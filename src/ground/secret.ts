import {inspect} from 'node:util';

/** Text that prints as [hidden] everywhere except where someone writes .reveal(). */
export class Secret {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  reveal = (): string => this.#text;
  toString = (): string => '[hidden]';
  toJSON = (): string => '[hidden]';
  [inspect.custom] = (): string => '[hidden]';
}

/** Words in the names of variables that contain a secret. */
const OF_VARIABLES =
  /TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL|ACCESS_KEY|API_KEY|PRIVATE_KEY/i;
const OF_KEYS =
  /(?:token|password|passwd|passphrase|secret|credentials?|(?:access|api|private|secret)-?key)$/i;
/** Keys that refer to a Kubernetes object or to a key inside it. */
const OF_OBJECTS =
  /(?:existing|pull|bundle|cert|ca)[-_]?secret(?:[-_]?key)?$|(?:name|ref|file|path)$|^automount|service[-_]?account[-_]?token$/i;

export const variableSoundsSecret = (name: string): boolean => OF_VARIABLES.test(name);

/** Whether a values key looks like the key of a secret; a key with an underscore may be a variable name. */
export const keySoundsSecret = (key: string): boolean =>
  !OF_OBJECTS.test(key) &&
  (OF_KEYS.test(key) || (/_|^[A-Z\d]+$/.test(key) && variableSoundsSecret(key)));

/** A mapping below such a key is not a secret: volumes refer to a Kubernetes Secret there. */
export const mayBeObject = (key: string): boolean => /(?:^s|S)ecret$/.test(key);

/** The text in a base64 encoding, possibly with line breaks; undefined if it is not one. */
export function decodedBase64(encoded: string): string | undefined {
  const line = encoded.replaceAll(/\s+/g, '');
  return /^[A-Za-z0-9+/]{8,}={0,2}$/.test(line)
    ? Buffer.from(line, 'base64').toString('latin1')
    : undefined;
}

const HOST = /^([a-z0-9]([-a-z0-9]*[a-z0-9])?\.)+[a-z]{2,}$/i;

/**
 * The account address inside an agent pool token, which is a JWT. Tokens created after Scalr 8.162.0 contain the domain
 * (agent-local 0.6.5, README, `agent.url`). The name of the claim is not documented, so the only host in the payload
 * is used, and two different hosts are ignored.
 */
export function hostInToken(token: Secret): string | undefined {
  const payload = mapIn(token.reveal().split('.')[1]) ?? {};
  const hosts = new Set(Object.values(payload).flatMap(hostOf));
  return hosts.size === 1 ? `https://${[...hosts][0]}` : undefined;
}

/** What is wrong with a typed agent pool token, as a message and its next step; undefined for a complete JSON Web Token. */
export function tokenProblem(text: string): string | undefined {
  if (/^https?:/i.test(text))
    return 'This is a URL, not an agent pool token. Copy the token from the agent pool in Scalr.';
  if (/[^\w.-]/.test(text))
    return 'A token cannot contain spaces, quotes or invisible characters. Copy it again.';
  const isComplete = /^[\w-]+\.[\w-]+\.[\w-]+$/.test(text) && tokenClaims(text) !== undefined;
  return isComplete
    ? undefined
    : 'The token is incomplete or damaged: it consists of three encoded parts with dots between them. Copy all of it.';
}

/** The claims of a JSON Web Token; undefined if the text is not a token. Must not be printed. */
export function tokenClaims(text: string): {expires?: Date} | undefined {
  const [header, payload, signature] = text
    .trim()
    .split('.')
    .map((part, index) => (index < 2 ? mapIn(part) : part));
  if (header === undefined || payload === undefined || signature === undefined) return undefined;
  const {exp} = payload as {exp?: unknown};
  return typeof exp === 'number' ? {expires: new Date(exp * 1000)} : {};
}

/**
 * Whether a token is for agents, and not for the API. Tokens of users have the issuer `user`. The claims of agent pool tokens are not
 * documented, so an issuer or a value that names an agent pool counts.
 */
export function isPoolToken(token: Secret): boolean {
  return (
    !isUserToken(token) &&
    Object.values(claimsOf(token)).some(
      (claim) => typeof claim === 'string' && /^(apool-|agents?\b)|agent.?pool/i.test(claim),
    )
  );
}

/** Whether a token is certainly one of a user, which no agent can use. */
export const isUserToken = (token: Secret): boolean => claimsOf(token)['iss'] === 'user';

const claimsOf = (token: Secret): Readonly<Record<string, unknown>> =>
  (mapIn(token.reveal().split('.')[1]) ?? {}) as Readonly<Record<string, unknown>>;

function mapIn(part: string | undefined): object | undefined {
  try {
    const found: unknown = JSON.parse(Buffer.from(part ?? '', 'base64url').toString('utf8'));
    return typeof found === 'object' && found !== null ? found : undefined;
  } catch {
    return undefined;
  }
}

function hostOf(claim: unknown): string[] {
  if (typeof claim !== 'string') return [];
  if (HOST.test(claim)) return [claim.toLowerCase()];
  return /^https:\/\//.test(claim) && URL.canParse(claim) ? [new URL(claim).host] : [];
}
