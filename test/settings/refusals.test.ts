import {expect, test} from 'vitest';
import {ExpectedError} from '../../src/errors.ts';
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
  [{'job-ttl': '8h30'}, 'is no duration'],
  [{'job-ttl': '169h'}, '169h is longer than 168h'],
  [{'controller-replicas': '0'}, '0 is not between 1 and 10'],
  [{'controller-replicas': '-1'}, '-1 is not between 1 and 10'],
  [{'controller-memory-limit': '512'}, 'Did you mean 512Gi?'],
  [{'controller-cpu-request': '0'}, 'no amount above zero'],
  [{'scheduling-timeout': '0'}, '0 is not between 1 and 86400'],
  [{'acquire-timeout': '2d'}, 'is no duration'],
  [{'image-pull-policy': 'always'}, 'Did you mean Always?'],
  [{'provider-cache-limit': '0Gi'}, 'no amount above zero'],
  [{'provider-cache-limit': '5Gi', 'provider-cache': false}, 'does nothing without --provider-cache'],
  [{'provider-cache-limit': '5Gi', 'single-run': true}, 'does nothing without --provider-cache'],
  [{'efs-mount-option': ['acregmin=1']}, 'does nothing without --cache efs'],
  [{'efs-handle': 'fs-0123456789abcdef0', 'efs-mount-option': ['acregmin 1']}, 'is not a mount option'],
  [{'single-run': true, isolation: 'shared'}, 'gives every run a new container'],
  [{'pod-label': ['app.kubernetes.io/name=x']}, 'finds its pods by it'],
  [{'pod-label': ['azure.workload.identity/use=true']}, 'Use --workload-identity azure'],
  [{'pod-label': ['team=a b']}, 'cannot be the value of "team"'],
  [{'pod-annotation': ['team']}, 'has no "="'],
])('%j is refused: %s', async (flags, text) => {
  expect(await refusal(flags)).toContain(text);
});
