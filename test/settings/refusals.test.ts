import {expect, test} from 'vitest';
import {ExpectedError} from '../../src/ground/errors.ts';
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
