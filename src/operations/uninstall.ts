import {scalrChart} from '../charts/releases/chart-name.ts';

import {uninstall} from '../cluster/helm/release-calls.ts';
import {scale} from '../cluster/kubernetes/changes.ts';
import {deleteAny, deleteObjects, waitUntilGone} from '../cluster/kubernetes/deletions.ts';
import {listKinds} from '../cluster/kubernetes/kubectl.ts';
import {refText} from '../cluster/kubernetes/object-refs.ts';
import type {Workload} from '../cluster/kubernetes/objects.ts';
import type {Controller, Inventory} from '../cluster/release/inventory.ts';
import {callText} from '../ground/call-arguments.ts';
import type {ReleaseName} from '../ground/command-line.ts';
import {failed} from '../ground/errors.ts';
import {listCommand} from '../ground/own-commands.ts';
import {durationText} from '../ground/text.ts';
import {CLEANER_IMAGE, cleanSteps, manualCleanup, readyNodes} from './node-data.ts';
import {beforeUninstall, dataRemovals, deletedClaims, keepVolumeSteps} from './release-data.ts';
import {type Removal, renderedObject} from './removal.ts';
import {inOrder, type Plan, type ReleaseStep, type RemovedObject, type Step} from './step.ts';
import {isKept, permissionsOfUninstall} from './step-permissions.ts';
import {type KeptObject, type Purgeable, remaining, removable} from './uninstall-keeps.ts';

export interface UninstallChoices {
  drain: boolean;
  drainTimeoutSeconds: number;
  purge: ReadonlySet<Purgeable>;
  /** For each wait after the drain. */
  timeoutSeconds: number;
  cleanerImage?: string;
  /** The token in the Scalr account is revoked, or deleted with its pool. */
  removesToken?: boolean;
  deletesPool?: boolean;
}

export interface UninstallPlan {
  plan: Plan;
  /** Its steps before those of the removals. */
  ofRelease: readonly ReleaseStep[];
  removals: readonly Removal[];
  keeps: readonly KeptObject[];
  warnings: readonly string[];
  /** It destroys data: the user must type the name of the release. */
  needsConfirmation: boolean;
}

/** The steps that uninstall a release, and what remains. Pure. @throws ExpectedError when others use a PVC of the release */
export function planUninstall(
  name: ReleaseName,
  inventory: Inventory,
  choices: UninstallChoices,
): UninstallPlan {
  requireUnusedClaims(name, inventory, choices.purge);
  const isPurged = choices.purge.has('claims');
  const ofRelease = inOrder({
    keep: beforeUninstall(name, inventory, isPurged),
    drain: drainSteps(name, withFormer(inventory), choices),
    former: leftoverSteps(name, inventory),
    release: releaseSteps(name, inventory, choices),
    reserve: isPurged ? [] : keepVolumeSteps(name, inventory, choices.timeoutSeconds),
  });
  const removals = removalsOf(name, inventory, choices);
  const steps = [...ofRelease, ...inOrder({remove: removals.flatMap((each) => each.steps)})];
  return {
    plan: {steps},
    ofRelease,
    removals,
    keeps: remaining(name, inventory, choices),
    warnings: drainWarnings(inventory, choices),
    needsConfirmation: steps.some(({isDestructive}) => isDestructive),
  };
}

/** Helm deletes the PVCs of a release, whoever mounts them. */
function requireUnusedClaims(
  {release}: ReleaseName,
  {claims}: Inventory,
  purge: ReadonlySet<Purgeable>,
): void {
  const own = claims.filter(({origin}) => origin === 'release');
  const used = own.flatMap(({name, usedBy = []}) => (usedBy.length > 0 ? [{name, usedBy}] : []));
  if (used.length > 0) {
    const users = [...new Set(used.flatMap(({usedBy}) => usedBy))];
    throw failed(
      'OBJECT_NOT_OWNED',
      used
        .map(
          (each) =>
            `Helm would delete PVC ${each.name} of release ${release}, which ${each.usedBy.join(' and ')} also mounts.`,
        )
        .join('\n'),
      [`Stop or reconfigure ${users.join(' and ')}, then run the command again`],
    );
  }
  const unknown = own.filter(({usedBy}) => usedBy === undefined);
  if (!purge.has('claims') || unknown.length === 0) return;
  throw failed(
    'OBJECT_NOT_OWNED',
    `Your user cannot list what else mounts PVC ${unknown.map((each) => each.name).join(' and ')}.`,
    [
      'To keep the data, omit claims from --purge',
      'Or use a user that can list workloads and Secrets of the namespace',
    ],
  );
}

function releaseSteps(
  name: ReleaseName,
  inventory: Inventory,
  {purge, drain, timeoutSeconds}: UninstallChoices,
): Step[] {
  const {release, runs} = inventory;
  if (release === undefined) return [];
  const isDataLost = deletedClaims(inventory, purge.has('claims')).some(
    ({origin}) => origin === 'release',
  );
  const isDestructive = isDataLost || (!drain && runs.length > 0);
  const selector = `app.kubernetes.io/instance=${name.release},app.kubernetes.io/component!=task`;
  return [
    {
      id: 'release',
      title: `Uninstall release ${name.release} (${release.chart}-${release.version})`,
      call: uninstall(name),
      permissions: permissionsOfUninstall(name, release.objects),
      deletes: deletedByHelm(name, release, inventory.records),
      isFinal: true,
      ...(isDestructive ? {isDestructive} : {}),
      tolerates: /release: not found/,
    },
    {
      id: 'gone',
      title: `Wait until the pods of release ${name.release} are deleted`,
      call: waitUntilGone(name.kubeTarget, {resources: [{kind: 'pod'}], selector}, timeoutSeconds),
    },
  ];
}

/** The objects of the release, and Helm's own records. */
function deletedByHelm(
  {kubeTarget: {namespace}}: ReleaseName,
  {objects}: NonNullable<Inventory['release']>,
  records: Inventory['records'],
): RemovedObject[] {
  return [
    ...objects.filter((each) => !isKept(each)).map((each) => renderedObject(each, namespace)),
    ...records.map((each) => ({kind: 'Secret', name: each, namespace})),
  ];
}

/** Workloads of other revisions accept runs too. */
function withFormer(inventory: Inventory): Inventory {
  const [first] = inventory.controllers;
  if (first === undefined) return inventory;
  const former = inventory.leftovers
    .filter(({kind, isDeleted}) => isDeleted && ['Deployment', 'StatefulSet'].includes(kind))
    .map(({kind, name, object}): Controller => {
      const replicas = (object as Workload).spec?.replicas ?? 1;
      return {...first, kind, name, replicas};
    });
  return {...inventory, controllers: [...inventory.controllers, ...former]};
}

/** Before helm deletes its record, so that the same command continues after a failure. */
function leftoverSteps({kubeTarget}: ReleaseName, inventory: Inventory): Step[] {
  const going = inventory.leftovers.filter(({isDeleted}) => isDeleted);
  if (going.length === 0) return [];
  const objects = going.map(({object}) => object);
  return [
    {
      id: 'leftovers',
      title: `Delete ${going.map(refText).join(', ')}, ${whyLeft(inventory)}`,
      call: deleteAny(kubeTarget, objects),
      deletes: objects.map((each) => renderedObject(each, kubeTarget.namespace)),
      // Helm's record proves that the objects are those of this release.
      ...(inventory.release === undefined ? {isDestructive: true} : {}),
    },
  ];
}

const whyLeft = ({release}: Inventory): string =>
  release === undefined ? 'which Helm has no record of' : 'which helm does not delete';

function leftoverRemovals(name: ReleaseName, inventory: Inventory): Removal[] {
  const objects = leftoverSteps(name, inventory).flatMap(({deletes = []}) => deletes);
  if (objects.length === 0) return [];
  const of = inventory.release === undefined ? 'without a Helm record' : 'of other revisions';
  return [{what: `Objects ${of}`, isListed: true, objects, steps: []}];
}

function removalsOf(
  name: ReleaseName,
  inventory: Inventory,
  {purge, timeoutSeconds, cleanerImage}: UninstallChoices,
): Removal[] {
  const {kubeTarget} = name;
  const {definitions, secrets, namespace, nodeData} = removable(inventory, purge);
  const remove = (id: string, object: RemovedObject): Removal => {
    const kind = object.kind === 'CustomResourceDefinition' ? 'CRD' : object.kind;
    const what = `${kind} ${object.name}`;
    const call = deleteObjects(kubeTarget, [object], timeoutSeconds);
    const step = {id, title: `Delete ${what}`, call, deletes: [object], isDestructive: true};
    return {what, objects: [object], keptAs: what, steps: [step]};
  };
  return [
    ...removalOfRelease(name, inventory),
    ...leftoverRemovals(name, inventory),
    ...(purge.has('claims') ? dataRemovals(kubeTarget, inventory) : []),
    ...definitions.map((each) =>
      remove(`crd/${each.name}`, {kind: 'CustomResourceDefinition', name: each.name}),
    ),
    ...secrets.map((each) =>
      remove(`secret/${each.name}`, {
        kind: 'Secret',
        name: each.name,
        namespace: kubeTarget.namespace,
      }),
    ),
    ...nodeData.map((each) => ({
      what: `Contents of ${each.path} on ${readyNodes(each.nodes ?? []).join(', ')}`,
      objects: [],
      steps: cleanSteps(name, each, cleanerImage ?? CLEANER_IMAGE, timeoutSeconds),
      how: manualCleanup(each, kubeTarget),
    })),
    ...namespace.map((each) => remove('namespace', {kind: 'Namespace', name: each.name})),
  ];
}

/** Helm deletes these objects in an earlier step. */
function removalOfRelease(
  {release, kubeTarget: {namespace}}: ReleaseName,
  inventory: Inventory,
): Removal[] {
  if (inventory.release === undefined) return [];
  const objects = inventory.release.objects.map((each) => renderedObject(each, namespace));
  return [{what: `Release ${release}`, isListed: true, objects, steps: []}];
}

/** @throws ExpectedError when the release is not of a Scalr agent chart */
export function requireOurChart(name: ReleaseName, chart: string | undefined): void {
  if (chart === undefined || scalrChart(chart) !== undefined) return;
  throw failed(
    'OBJECT_NOT_OWNED',
    `Release ${name.release} uses chart ${chart}, which is not a Scalr agent chart.`,
    [
      `List agents: ${listCommand(name.kubeTarget)}`,
      `Uninstall it yourself: ${callText(uninstall(name))}`,
    ],
  );
}

/** Stops the controllers, and waits for runs in flight while their service account and network policies still exist. */
export function drainSteps(
  name: ReleaseName,
  inventory: Inventory,
  {drain, drainTimeoutSeconds}: Pick<UninstallChoices, 'drain' | 'drainTimeoutSeconds'>,
  howToBreakOff = 'Uninstall without waiting, which interrupts the runs: --no-drain',
): Step[] {
  const {controllers, runsOf} = inventory;
  if (!drain || controllers.length === 0) return [];
  const runs =
    runsOf === undefined
      ? []
      : [runsStep(name, {noRunsOf: runsOf, timeoutSeconds: drainTimeoutSeconds, howToBreakOff})];
  const stop = controllers.map((each) => stopStep(name, each));
  // A controller that interrupts its runs is stopped only after they have ended.
  const stopsRuns =
    runsOf?.chart === 'agent-k8s' && controllers.some(({onStop}) => onStop === 'interrupt');
  return [
    ...(stopsRuns ? [...runs, ...stop] : [...stop, ...runs]),
    goneStep(name, controllers, drainTimeoutSeconds),
  ];
}

const stopStep = ({kubeTarget}: ReleaseName, {kind, name, replicas}: Controller): Step => ({
  id: `stop/${name}`,
  title: `Scale ${kind} ${name} to 0, so that it accepts no new runs`,
  call: scale(kubeTarget, {kind, name}, 0),
  workloads: [{kind, name}],
  tolerates: /not found/i,
  undo: [
    {
      object: {kind, name},
      restores: 'replicas',
      text: `${kind} ${name} is scaled to 0 and accepts no new runs.`,
      call: scale(kubeTarget, {kind, name}, replicas),
      reverted: `${kind} ${name} is scaled up again.`,
      byHand: [`Scale it up again: ${callText(scale(kubeTarget, {kind, name}, replicas))}`],
    },
  ],
});

const runsStep = (
  {kubeTarget}: ReleaseName,
  waitFor: Omit<NonNullable<Step['waitFor']>, 'kubeTarget'>,
): Step => ({
  id: 'drain',
  title: `Wait until no run is in flight (timeout: ${durationText(waitFor.timeoutSeconds * 1000)})`,
  call: listKinds(kubeTarget, ['jobs', 'pods']),
  waitFor: {kubeTarget, ...waitFor},
});

/** Only pods of Deployments have the label pod-template-hash; workers and runs have the same other labels. Evicted pods stay, and nothing runs in them. */
const goneStep = (
  {release, kubeTarget}: ReleaseName,
  controllers: readonly Controller[],
  seconds: number,
): Step => {
  const hash = controllers.every(({kind}) => kind === 'Deployment') ? ',pod-template-hash' : '';
  return {
    id: 'stopped',
    title: `Wait until the pods of ${controllers.map(({name}) => name).join(' and ')} are deleted (timeout: ${durationText(seconds * 1000)})`,
    call: waitUntilGone(
      kubeTarget,
      {
        resources: [{kind: 'pod'}],
        selector: `app.kubernetes.io/instance=${release}${hash}`,
        fields: 'status.phase!=Failed,status.phase!=Succeeded',
      },
      seconds,
    ),
  };
};

export const inFlight = (runs: readonly unknown[]): string =>
  `${runs.length} ${runs.length === 1 ? 'run is' : 'runs are'} in flight`;

export function drainWarnings(
  {release, controllers, runs, runsOf}: Inventory,
  {drain, drainTimeoutSeconds}: Pick<UninstallChoices, 'drain' | 'drainTimeoutSeconds'>,
): string[] {
  const [first] = controllers;
  if (release === undefined || first === undefined) return [];
  if (!drain) {
    if (runsOf === undefined)
      return [
        'Runs inside the agent cannot be listed. Without a drain, its shutdown mode determines how they end.',
      ];
    return runs.length === 0
      ? []
      : [
          `${inFlight(runs)}, and without a drain they lose their service account and their cache: ${runs.map(refText).join(', ')}.`,
        ];
  }
  const longest = Math.max(...controllers.map(({graceSeconds}) => graceSeconds));
  const warnings =
    longest > drainTimeoutSeconds
      ? [
          `The grace period of the agent is ${longest} s, which exceeds the drain timeout of ${drainTimeoutSeconds} s.`,
        ]
      : [];
  if (runsOf === undefined && first.onStop === 'interrupt')
    warnings.push(
      `Runs inside ${first.name} are interrupted and killed after ${first.graceSeconds} s. To let them finish, unassign its agent pool from the workspaces in Scalr and wait.`,
    );
  if (runsOf?.chart === 'agent-k8s') {
    if (first.onStop === 'interrupt')
      warnings.push(
        'This agent interrupts runs when it stops, so it keeps accepting new runs during the drain. Unassign its agent pool from the workspaces in Scalr.',
      );
    if (Object.keys(runsOf.taskLabels).length === 0)
      warnings.push(
        'Run pods of this release have no identifying label. Every pod in the namespace without a controller counts as a run.',
      );
  }
  return warnings;
}
