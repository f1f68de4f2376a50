import {networkReason} from '../ground/connect.ts';
import {withTimeout} from '../ground/signals.ts';
import type {ManifestAnswer, Registries} from '../ports/registries.ts';

const TIMEOUT_MS = 5000;

/** Requests without credentials. Registries of public images hand out tokens for them. */
export const registries: Registries = {
  async manifest(url, types, signal) {
    try {
      return await withTimeout(TIMEOUT_MS, signal, async (either) => {
        const head = (more: Readonly<Record<string, string>> = {}) =>
          fetch(url, {method: 'HEAD', headers: {accept: types.join(', '), ...more}, signal: either});
        const answer = await head();
        const token = answer.status === 401 ? await anonymousToken(answer.headers.get('www-authenticate') ?? '', either) : undefined;
        return answerOf(token === undefined ? answer : await head({authorization: `Bearer ${token}`}), types);
      });
    } catch (error) {
      return {state: 'failed', because: networkReason(error)};
    }
  },
};

function answerOf({status, headers}: Response, types: readonly string[]): ManifestAnswer {
  if (status === 404) return {state: 'missing'};
  if (status === 401 || status === 403) return {state: 'denied'};
  const type = headers.get('content-type') ?? 'no content type';
  if (status !== 200) return {state: 'failed', because: `it responded with HTTP ${status}`};
  // A login page also answers with 200.
  if (!types.some((each) => type.includes(each))) return {state: 'failed', because: `it responded with ${type} instead of a manifest`};
  const digest = headers.get('docker-content-digest');
  return {state: 'found', ...(digest !== null && /^sha256:[0-9a-f]{64}$/.test(digest) ? {digest} : {})};
}

/** https://distribution.github.io/distribution/spec/auth/token/ */
async function anonymousToken(challenge: string, signal: AbortSignal): Promise<string | undefined> {
  if (!/^Bearer /i.test(challenge)) return undefined;
  const {realm = '', ...query} = Object.fromEntries(
    [...challenge.matchAll(/(\w+)="([^"]*)"/g)].map(([, key = '', value = '']) => [key, value]),
  );
  if (!URL.canParse(realm)) return undefined;
  const url = new URL(realm);
  for (const key of ['service', 'scope']) if (query[key] !== undefined) url.searchParams.set(key, query[key]);
  const answer = await fetch(url, {signal});
  if (!answer.ok) return undefined;
  const {token, access_token: other} = (await answer.json()) as {token?: string; access_token?: string};
  return token ?? other;
}
