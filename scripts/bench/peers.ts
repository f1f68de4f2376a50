import {existsSync} from 'node:fs';
import {delimiter, dirname, join} from 'node:path';

interface Peer {
  name: string;
  path: string;
  args: readonly string[];
  env: Readonly<Record<string, string>>;
}

/** Tools that people know, by the names of their bins. */
const BINS = {
  '@shopify/cli': ['shopify', 'version'],
  'create-cloudflare': ['create-cloudflare', '--version'],
  '@sentry/wizard': ['sentry-wizard', '--version'],
  np: ['np', '--version'],
} as const;

/** They shall start, not talk to anybody. */
const QUIET = {
  NO_UPDATE_NOTIFIER: '1',
  SHOPIFY_CLI_NO_ANALYTICS: '1',
  CREATE_CLOUDFLARE_TELEMETRY_DISABLED: '1',
  PATH: [dirname(process.execPath), process.env['PATH']].join(delimiter),
};

/** Those that are installed in the folder that BENCH_PEERS names. */
export function peers(folder = process.env['BENCH_PEERS']): Peer[] {
  if (!folder) return [];
  return Object.entries(BINS)
    .map(([name, [bin, flag]]) => ({name: `${name} ${flag}`, path: join(folder, 'node_modules/.bin', bin), args: [flag], env: QUIET}))
    .filter(({path}) => existsSync(path));
}
