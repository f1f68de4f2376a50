import {isKnown, knownValue} from '../../../cluster/facts/fact.ts';
import type {Claim} from '../../../cluster/objects.ts';
import {type Check, fail, type Outcome, pass, skip, warn} from '../../check.ts';
import type {Situation} from '../../situation.ts';
import {nodesForRuns} from '../nodes/pods.ts';
import {ifKnown, skipped, worstOf} from '../outcomes.ts';
import {classOf, newClaims, sharers, usedClaims, withManifest} from './claims.ts';

/** The outcome for each claim of that name that is there. */
const eachClaim = (
  situation: Situation,
  names: readonly string[],
  conclude: (claim: Claim | undefined, name: string) => Outcome[],
): Outcome | undefined =>
  worstOf(
    names.flatMap((name): Outcome[] => {
      const fact = situation.claims.get(name);
      if (fact === undefined) return [skip(`The claim ${name} was not looked up`)];
      return isKnown(fact) ? conclude(fact.value, name) : [skipped(fact, `The claim ${name} is`)];
    }),
  );

const describe = (name: string, {name: {place}}: Situation): string => `kubectl describe pvc ${name} --namespace ${place.namespace}`;

export const claimBound: Check = {
  id: 'claim',
  group: 'Storage',
  title: 'every claim that pods mount is there and has a volume, or gets one',
  ref: 'https://kubernetes.io/docs/concepts/storage/persistent-volumes/#binding',
  test: (situation) =>
    withManifest(situation, (objects) => eachClaim(situation, usedClaims(objects), (claim, name) => [boundOrNot(claim, name, situation)])),
};

function boundOrNot(claim: Claim | undefined, name: string, situation: Situation): Outcome {
  const {namespace} = situation.name.place;
  if (claim === undefined)
    return fail(
      `There is no claim ${name} in ${namespace}, and pods that mount it never start`,
      'Make it first, or have the chart make one: --cache pvc',
    );
  if (claim.metadata.deletionTimestamp !== undefined)
    return fail(`The claim ${name} is being deleted`, `Wait until it is gone and make it anew: ${describe(name, situation)}`);
  const phase = claim.status?.phase ?? 'Pending';
  if (phase === 'Bound') return pass(`${name} is bound`);
  if (phase === 'Lost') return fail(`The claim ${name} lost its volume`, describe(name, situation));
  return ifKnown(situation.facts.storageClasses, `The claim ${name} has no volume yet, and whether it gets one is`, (classes) => {
    const found = classOf(claim, classes);
    if (found?.bindingMode === 'WaitForFirstConsumer') return pass(`${name} gets its volume with the first pod (class ${found.name})`);
    return warn(`The claim ${name} is ${phase}: nothing has made a volume for it`, `See why: ${describe(name, situation)}`);
  });
}

export const claimShared: Check = {
  id: 'claim-access-mode',
  group: 'Storage',
  title: 'claims that several pods mount can be shared between nodes',
  ref: 'https://kubernetes.io/docs/concepts/storage/persistent-volumes/#access-modes',
  test: (situation) =>
    withManifest(situation, (objects) => {
      const who = sharers(situation);
      if (who === undefined) return undefined;
      return eachClaim(situation, usedClaims(objects), (claim, name) => {
        const modes = claim?.spec?.accessModes;
        if (modes === undefined) return [];
        if (modes.includes('ReadWriteMany')) return [pass(`${name} is ReadWriteMany`)];
        if (modes.includes('ReadWriteOnce') && knownValue(nodesForRuns(situation))?.length === 1)
          return [
            warn(
              `The claim ${name} is ${modes.join(', ')}, and ${who} mount it: that works on the one node there is, and on no second one`,
              'Name a claim that is ReadWriteMany with --cache-claim before there are more nodes',
            ),
          ];
        return [
          fail(
            `The claim ${name} is ${modes.join(', ')}, and ${who} mount it: on a second node they do not start`,
            'Name a claim that is ReadWriteMany with --cache-claim, or use --cache ephemeral',
          ),
        ];
      });
    }),
};

export const claimNameFree: Check = {
  id: 'claim-name',
  group: 'Storage',
  title: 'claims that the chart makes are new, or belong to this release',
  ref: 'https://helm.sh/docs/helm/helm_install/',
  test: (situation) =>
    withManifest(situation, (objects) =>
      eachClaim(
        situation,
        newClaims(objects).map(({metadata}) => metadata.name),
        (claim, name) => {
          if (claim === undefined) return [pass(`${name} is new`)];
          const {release, place} = situation.name;
          const owner = claim.metadata.annotations?.['meta.helm.sh/release-name'];
          const ownerNamespace = claim.metadata.annotations?.['meta.helm.sh/release-namespace'];
          if (owner === release && ownerNamespace === place.namespace) return [pass(`${name} belongs to release ${release}`)];
          return [
            fail(
              `There is a claim ${name} already${owner === undefined ? '' : ` of release ${ownerNamespace}/${owner}`}, and Helm refuses to take it over`,
              `Use it as it is: --cache existing-pvc --cache-claim ${name}; or choose another name with --release`,
            ),
          ];
        },
      ),
    ),
};
