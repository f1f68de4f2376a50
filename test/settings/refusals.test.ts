import {expect, test} from 'vitest';
import {ExpectedError, maskSecrets} from '../../src/ground/errors.ts';
import {catalog} from '../../src/settings/catalog.ts';
import type {Setting} from '../../src/settings/define.ts';
import {InvalidValue} from '../../src/settings/kinds/kind.ts';
import {certificates} from '../support/certificates.ts';
import {type RawFlags, settingsFrom} from '../support/settings-from.ts';

async function refusal(flags: RawFlags): Promise<string> {
  try {
    await settingsFrom({url: 'https://acme.scalr.io', ...flags}, certificates);
  } catch (error) {
    if (error instanceof ExpectedError) return [error.message, ...error.suggestions].join('\n');
    throw error;
  }
  throw new Error(`${JSON.stringify(flags)} was accepted`);
}

test.each<[RawFlags, string]>([
  [{'job-ttl': '0'}, '0 is not between 1 and 604800'],
  [{'job-ttl': '8h30'}, 'is not a duration'],
  [{'job-ttl': '169h'}, '169h is longer than 168h'],
  [{'controller-replicas': '0'}, '0 is not between 1 and 10'],
  [{'controller-replicas': '-1'}, '-1 is not between 1 and 10'],
  [{'controller-memory-limit': '512'}, 'Did you mean 512Gi or 512Mi?'],
  [{'controller-cpu-request': '0'}, 'must be greater than zero'],
  [{'scheduling-timeout': '0'}, '0 is not between 1 and 86400'],
  [{'acquire-timeout': '2d'}, 'is not a duration'],
  [{'image-pull-policy': 'always'}, 'Did you mean Always?'],
  [{'provider-cache-limit': '0Gi'}, 'must be greater than zero'],
  [{'provider-cache-limit': '5Gi', 'provider-cache': false}, 'Requires --provider-cache'],
  [{'provider-cache-limit': '5Gi', 'single-run': true}, 'Requires --provider-cache'],
  [{'efs-mount-option': ['acregmin=1']}, 'Requires --cache efs'],
  [
    {'efs-handle': 'fs-0123456789abcdef0', 'efs-mount-option': ['acregmin 1']},
    'is not a valid mount option',
  ],
  [{'single-run': true, isolation: 'shared'}, 'Conflicts with shared isolation'],
  [{'pod-label': ['app.kubernetes.io/name=x']}, 'is reserved for the selectors'],
  [{'pod-label': ['azure.workload.identity/use=true']}, 'Use --workload-identity azure'],
  [{'pod-label': ['team=a b']}, 'is not a valid value for "team"'],
  [{'pod-annotation': ['team']}, 'has no "="'],
  [
    {'no-proxy': '10.0.0.0/33', 'https-proxy': 'http://proxy:3128'},
    '"10.0.0.0/33" is not a host, domain or network',
  ],
  [
    {'no-proxy': 'fd00::/129', 'https-proxy': 'http://proxy:3128'},
    '"fd00::/129" is not a host, domain or network',
  ],
  [{'https-proxy': 'http://ann:p%zz@proxy:3128'}, 'Escape % as %25'],
  [{cache: 'efs', 'efs-handle': 'fs-123'}, '"fs-123" is not a valid EFS volume handle'],
  [{cloud: 'eks', 'workload-identity': 'gke'}, 'gke is not available on eks'],
  [{cloud: 'aks', 'workload-identity': 'irsa'}, 'Use --workload-identity azure'],
])('%j is refused: %s', async (flags, text) => {
  expect(await refusal(flags)).toContain(text);
});

const TOKEN = `eyJhbGciOiJIUzI1NiJ9.eyJpc3MiOiJ4In0.c2lnbmF0dX${'Jl'.repeat(8)}`;
const ASSIGNMENTS = ['extra-env', 'set'];

/** What is printed about a value that the settings refuse. */
const shownOf = (raw: unknown, settings: readonly Setting[]): string[] =>
  settings.flatMap(({id, kind}) => {
    try {
      kind.parse(raw, {now: new Date()});
      return [];
    } catch (error) {
      if (!(error instanceof InvalidValue)) throw error;
      return [maskSecrets([id, error.message, error.suggestion?.text].join(': '))];
    }
  });

test.each<unknown>([
  TOKEN,
  [TOKEN],
  'ann:Hunter2pass@proxy',
])('no setting repeats a token or the password of a URL: %j', (raw) => {
  const shown = shownOf(raw, catalog);
  expect(shown.length).toBeGreaterThan(20);
  expect(shown.filter((each) => /hunter2pass|c2lnbmf0dx/i.test(each))).toEqual([]);
});

test.each<unknown>([
  'DB_PASSWORD:Hunter2pass',
  ['DB_PASSWORD: Hunter2pass'],
  ['extraEnv.DB_PASSWORD=Hunter2pass,foo'],
])('no assignment repeats its value: %j', (raw) => {
  const shown = shownOf(
    raw,
    catalog.filter(({id}) => ASSIGNMENTS.includes(id)),
  );
  expect(shown.length).toBeGreaterThan(0);
  expect(shown.filter((each) => each.includes('Hunter2pass'))).toEqual([]);
});

test('a proxy URL without a scheme is suggested with one', async () => {
  expect(await refusal({'https-proxy': 'foo:bar@p'})).toContain('Did you mean http://***@p?');
});
