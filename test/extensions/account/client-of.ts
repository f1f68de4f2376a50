import {ScalrClient} from '../../../src/extensions/account/client.ts';
import type {ScalrOptions} from '../../../src/extensions/account/http.ts';
import {Secret} from '../../../src/ground/secret.ts';
import {USER_TOKEN} from './mock-account.ts';
import type {MockApi} from './mock-api.ts';

export const DIRECT = {proxy: undefined};

/** The client of the program, with a record of its waits. */
export function clientOf(
  {host, ca}: Pick<MockApi, 'host' | 'ca'>,
  options: Partial<ScalrOptions> = {},
) {
  const waits: number[] = [];
  const client = new ScalrClient({
    host,
    source: 'SCALR_TOKEN',
    token: new Secret(USER_TOKEN),
    version: '1.0.0',
    route: {...DIRECT, ca: [ca]},
    signal: new AbortController().signal,
    sleep: async (milliseconds) => void waits.push(milliseconds),
    ...options,
  });
  return {client, waits};
}
