import {dryRunCreate} from '../cluster/kubernetes/dry-runs.ts';
import {
  includesRef,
  kindAndName,
  type ObjectRef,
  refOf,
} from '../cluster/kubernetes/object-refs.ts';
import type {KubernetesObject} from '../cluster/kubernetes/objects.ts';
import {haveSamePods} from '../cluster/kubernetes/pod-specs.ts';
import {podExcuse, trialPods} from '../cluster/kubernetes/trial-objects.ts';
import type {InstallFacts} from '../cluster/release/read-release.ts';
import type {ClusterTarget} from '../ground/command-line.ts';
import type {TrialBatch} from './server-dry-run.ts';
import type {Step} from './step.ts';

interface Started {
  steps: readonly Step[];
  /** Rendered objects of the release. */
  objects: readonly KubernetesObject[];
  facts: Pick<InstallFacts, 'installed' | 'release' | 'drift'>;
}

/** One pod of every template that gets new pods: admission checks pods on their own, and refuses them after the change. */
export function podBatches(started: Started, kubeTarget: ClusterTarget): TrialBatch[] {
  const {objects, facts} = started;
  return objects
    .filter((object) => getsPods(object, started))
    .flatMap((owner) =>
      trialPods(owner, (name) => isCreated(name, started)).map((pod) => {
        const call = dryRunCreate(kubeTarget, pod);
        const what = `Pod of ${kindAndName(owner)}`;
        const excuses = (stderr: string): string | undefined =>
          podExcuse(stderr, owner, facts.release !== undefined);
        return {call, trials: [{what, call, excuses}]};
      }),
    );
}

/** Its template is new or changed, or a step starts or restarts it. */
function getsPods(object: KubernetesObject, {steps, facts}: Started): boolean {
  const before = facts.installed.find((each) => kindAndName(each) === kindAndName(object));
  const isDrifted = facts.drift.some((each) => each.object === kindAndName(object));
  const isNew = before === undefined || !haveSamePods(before, object);
  return isNew || isDrifted || includesRef(refOf(object), workloadsOf(steps));
}

const workloadsOf = (steps: readonly Step[]): ObjectRef[] =>
  steps.flatMap(({workloads = []}) => workloads);

/** A service account that the change creates. */
function isCreated(account: string, {objects, facts}: Started): boolean {
  const isThis = ({kind, metadata: {name}}: KubernetesObject): boolean =>
    kind === 'ServiceAccount' && name === account;
  const isMissing = facts.drift.some(
    ({object, problem}) => problem === 'missing' && object === `ServiceAccount ${account}`,
  );
  return objects.some(isThis) && (isMissing || !facts.installed.some(isThis));
}
