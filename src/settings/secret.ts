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

/** Words that stand in the names of variables which hold a secret. */
const OF_VARIABLES = /TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL|ACCESS_KEY|API_KEY|PRIVATE_KEY/i;
const OF_KEYS = /(?:token|password|passwd|passphrase|secret|credentials?|(?:access|api|private|secret)-?key)$/i;
/** Keys that name an object of Kubernetes, a key inside of one, or ask for one. */
const OF_OBJECTS =
  /(?:existing|pull|bundle|cert|ca)[-_]?secret(?:[-_]?key)?$|(?:name|ref|file|path)$|^automount|service[-_]?account[-_]?token$/i;

export const variableSoundsSecret = (name: string): boolean => OF_VARIABLES.test(name);

/** Whether a key of a values file sounds like one of a secret; one with an underscore may be the name of a variable. */
export const keySoundsSecret = (key: string): boolean =>
  !OF_OBJECTS.test(key) && (OF_KEYS.test(key) || (/_|^[A-Z\d]+$/.test(key) && variableSoundsSecret(key)));

/** A mapping below such a key is no secret: volumes take a Secret of Kubernetes there. */
export const mayBeObject = (key: string): boolean => /(?:^s|S)ecret$/.test(key);

const HOST = /^([a-z0-9]([-a-z0-9]*[a-z0-9])?\.)+[a-z]{2,}$/i;

/**
 * The account address inside an agent pool token, which is a JWT. Tokens made after Scalr 8.162.0 hold the domain
 * (agent-local 0.6.5, README, `agent.url`). The name of the claim is not documented, so the only host in the payload
 * counts, and two different ones count as none.
 */
export function hostInToken(token: Secret): string | undefined {
  const payload = mapIn(token.reveal().split('.')[1]) ?? {};
  const hosts = new Set(Object.values(payload).flatMap(hostOf));
  return hosts.size === 1 ? `https://${[...hosts][0]}` : undefined;
}

/** What a JSON Web Token says of itself; undefined where the text is none. Nothing of it may be printed. */
export function claimsOf(text: string): {expires?: Date} | undefined {
  const [header, payload, signature] = text
    .trim()
    .split('.')
    .map((part, index) => (index < 2 ? mapIn(part) : part));
  if (header === undefined || payload === undefined || signature === undefined) return undefined;
  const {exp} = payload as {exp?: unknown};
  return typeof exp === 'number' ? {expires: new Date(exp * 1000)} : {};
}

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
