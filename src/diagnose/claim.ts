import type {Claim, Snapshot} from '../cluster/objects.ts';
import type {CauseRecord} from './cause.ts';
import {oneLine} from './error-text.ts';
import {eventsOf, firstTimeOf, isEnding} from './snapshot-queries.ts';

interface Pending {
  claim: Claim;
  words: string;
  since: string | undefined;
}

/** Claims for which somebody tried to find a volume. One that waits for its first consumer is in order. */
const pending = (snapshot: Snapshot): Pending[] =>
  snapshot.claims
    .filter((claim) => claim.status?.phase === 'Pending' && !isEnding(claim))
    .flatMap((claim) => {
      // Normal events come with every new try; only the claim being bound takes a failure back.
      const failed = eventsOf(snapshot, claim, ['ProvisioningFailed', 'FailedBinding']).at(-1);
      return failed ? [{claim, words: failed.message ?? '', since: firstTimeOf(failed)}] : [];
    });

const refused = (code: string, hopelessAfter: number, words: RegExp, remedy: string): CauseRecord => ({
  code,
  hopelessAfter,
  remedy,
  test: (snapshot) =>
    pending(snapshot)
      .filter((each) => words.test(each.words))
      .map(({claim, words: said, since}) => ({object: claim, reason: oneLine(`PVC pending: ${said}`), since})),
});

/** Somebody may make the class or a volume by hand right after the release. */
const BY_HAND = 60;

export const claimCauses: readonly CauseRecord[] = [
  refused('CLAIM_WITHOUT_CLASS', BY_HAND, /no storage class is set/, 'Name a class with --cache-storage-class, or make one the default'),
  refused(
    'CLASS_NOT_FOUND',
    BY_HAND,
    /storageclass\S* "[^"]*" not found/i,
    'Correct --cache-storage-class; kubectl get storageclass shows them',
  ),
  // A driver never learns another access mode.
  refused(
    'ACCESS_MODE_NOT_SUPPORTED',
    30,
    /access ?mode|MULTI_NODE|volume capabilit/i,
    'Use a class that can be mounted by many nodes (--cache-storage-class), or --cache-access-mode ReadWriteOnce',
  ),
  // File systems of clouds take minutes, and their drivers say this meanwhile.
  refused(
    'PROVISIONING_SLOW',
    Number.POSITIVE_INFINITY,
    /DeadlineExceeded|deadline exceeded|code = Aborted|already exists|in progress/,
    'The storage driver still works on it: wait, then look at its log',
  ),
  refused('PROVISIONING_FAILED', 120, /./, 'Mend what the storage driver says'),
  {
    code: 'CLAIM_LOST',
    hopelessAfter: 0,
    remedy: 'The volume of the claim is gone: delete the claim and let a new one be made; what it held is lost',
    test: ({claims}) =>
      claims
        .filter(({status}) => status?.phase === 'Lost')
        .map((claim) => ({object: claim, reason: 'PVC lost: its volume does not exist'})),
  },
];
