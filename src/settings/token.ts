import type {Secret} from './secret.ts';

const HOST = /^([a-z0-9]([-a-z0-9]*[a-z0-9])?\.)+[a-z]{2,}$/i;

/**
 * The account address inside an agent pool token, which is a JWT. Tokens made after Scalr 8.162.0 hold the domain
 * (agent-local 0.6.5, README, `agent.url`). The name of the claim is not documented, so the only host in the payload
 * counts, and two different ones count as none.
 */
export function hostInToken(token: Secret): string | undefined {
  const payload = decodePayload(token.reveal());
  const hosts = new Set(Object.values(payload).flatMap(hostOf));
  return hosts.size === 1 ? `https://${[...hosts][0]}` : undefined;
}

function decodePayload(jwt: string): object {
  try {
    const payload: unknown = JSON.parse(Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString('utf8'));
    return typeof payload === 'object' && payload !== null ? payload : {};
  } catch {
    return {};
  }
}

function hostOf(claim: unknown): string[] {
  if (typeof claim !== 'string') return [];
  if (HOST.test(claim)) return [claim.toLowerCase()];
  return /^https:\/\//.test(claim) && URL.canParse(claim) ? [new URL(claim).host] : [];
}
