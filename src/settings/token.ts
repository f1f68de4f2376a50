import type {Secret} from './secret.ts';

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
