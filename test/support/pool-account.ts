import {mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {expect, onTestFinished} from 'vitest';
import type {Workplace} from '../control-plane/workplace.ts';
import {type Stored, USER_TOKEN} from '../extensions/account/mock-account.ts';
import {type MockApi, mockApi} from '../extensions/account/mock-api.ts';
import {violations} from './output-schema.ts';
import {install} from './run-on-cluster.ts';

const scratch = mkdtempSync(join(tmpdir(), 'scalr-agent-'));
process.once('exit', () => rmSync(scratch, {recursive: true, force: true}));

export interface PoolAccount {
  api: MockApi;
  env: Record<string, string>;
  /** Flags of an install with a new pool. */
  flags: string[];
}

/** An account for the program, with flags for the chart. */
export async function poolAccount(argv: readonly string[]): Promise<PoolAccount> {
  const api = await mockApi();
  const ca = join(scratch, `${new URL(api.url).port}.pem`);
  writeFileSync(ca, api.ca);
  return {
    api,
    env: {...api.deps.env, SSL_CERT_FILE: ca},
    flags: ['--url', api.url, '--pool', 'eks-prod', '--create-pool', ...argv],
  };
}

export const poolIn = ({account: {objects}}: MockApi): Stored =>
  [...objects.values()].find(({type}) => type === 'agent-pools') as Stored;
export const tokensIn = ({account: mock}: MockApi): string[] =>
  mock.ofType('access-tokens').map(({id}) => id);

/** Agents appear in the account when their pods run, and are offline when the pods are gone. */
export function agentsOf(place: Workplace, {account: mock}: MockApi): void {
  const own = new Set<string>();
  const timer = setInterval(async () => {
    const listed = await place
      .kubectl('get', 'pods', '--output', 'jsonpath={.items[*].metadata.name}')
      .catch(() => undefined);
    const [pool] = mock.ofType('agent-pools');
    if (pool === undefined || listed === undefined) return;
    const pods = listed.split(' ').filter((name) => name !== '');
    for (const name of pods) {
      if (!mock.names('agents').includes(name)) mock.agent(pool, name);
      own.add(name);
    }
    for (const {attributes} of mock.ofType('agents'))
      if (own.has(String(attributes['name'])) && !pods.includes(String(attributes['name'])))
        attributes['status'] = 'offline';
  }, 300);
  onTestFinished(() => clearInterval(timer));
}

/** The token in the Secret of the release, and its ID in the account. */
export async function secretOf(place: Workplace): Promise<{token: string; id: string}> {
  const text = await place.kubectl('get', 'secret', 'scalr-agent-token', '--output', 'json');
  const {data, metadata} = JSON.parse(text);
  return {
    token: Buffer.from(data.token, 'base64').toString(),
    id: metadata.annotations['scalr.io/token-id'],
  };
}

/** Installs with the pool; the token of the user is in no output. */
export async function installWithPool(
  place: Workplace,
  helm: string,
  {flags, env}: PoolAccount,
  ...more: string[]
) {
  const {stdout, stderr, exit} = await install(
    place,
    helm,
    [...flags, ...more, '--yes', '--json'],
    {env},
  );
  expect(stdout + stderr).not.toContain(USER_TOKEN.split('.')[1]);
  const document = JSON.parse(stdout);
  if (document.error === undefined) expect(violations('install', stdout), stdout).toEqual([]);
  return {...document, stderr, exit};
}
