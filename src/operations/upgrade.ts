import {
  advise,
  type NewSetting,
  newSettingsOf,
  pinnedAdvice,
  type UpgradeAdvice,
  upgradeFinding,
} from '../charts/advise.ts';
import type {Target} from '../charts/releases/target.ts';
import {rollback} from '../cluster/helm/release-calls.ts';
import type {ClusterAccess} from '../cluster/helm/releases.ts';
import {applyObjects, createObject} from '../cluster/kubernetes/changes.ts';
import {deleteObjects} from '../cluster/kubernetes/deletions.ts';
import {
  includesRef,
  isSameRef,
  kindAndName,
  type ObjectRef,
  refOf,
  refText,
  uniqueRefs,
} from '../cluster/kubernetes/object-refs.ts';
import type {KubernetesObject, SecretObject, Workload} from '../cluster/kubernetes/objects.ts';
import type {DesiredSecret, RenderedRelease} from '../cluster/release/desired-release.ts';
import type {Controller} from '../cluster/release/inventory.ts';
import type {InstalledRelease} from '../cluster/release/read-inventory.ts';
import type {InstallFacts} from '../cluster/release/read-release.ts';
import type {ReleaseName} from '../ground/command-line.ts';
import {type SettingFinding, warningOf} from '../ground/finding.ts';
import {at, getAt, sameTree, type Tree} from '../ground/tree.ts';
import type {Change} from '../values/migrate/change.ts';
import {effectiveValues} from '../values/reading/read-values.ts';
import {repeatedVariables} from '../values/rules/check-values.ts';
import {type InstallChoices, isCustomApiVersion, planInstall} from './install.ts';
import {usersBySecret} from './install-secrets.ts';
import {restartWarnings} from './restart-warnings.ts';
import {rollbackHints} from './rollback-steps.ts';
import {
  byPhase,
  inOrder,
  ofPhase,
  type Plan,
  type ReleaseStep,
  type Step,
  type Undo,
} from './step.ts';
import {drainSteps, drainWarnings, type UninstallPlan} from './uninstall.ts';
import {type Rollback, rollbackOf} from './upgrade-rollback.ts';

export interface UpgradeChoices extends InstallChoices {
  drain: boolean;
  timeoutSeconds: number;
}

/** What an upgrade does, and what the user must know before. */
export interface UpgradePlan {
  desired: RenderedRelease;
  plan: Plan;
  advice: readonly UpgradeAdvice[];
  newSettings: readonly NewSetting[];
  /** Asked for separately, and run after the release is ready. */
  cleanup: readonly Step[];
  rollback: Rollback;
  /** PVCs that the new version does not create; they stay with their data. */
  keptClaims: readonly string[];
}

/** What is shown, confirmed and run, within one chart or to another one. */
export interface PreparedUpgrade extends Omit<UpgradePlan, 'rollback'> {
  /** The release that the plan installs or upgrades. */
  name: ReleaseName;
  facts: InstallFacts;
  /** All steps, also those that remove the release of the former chart. */
  steps: readonly Step[];
  warnings: readonly SettingFinding[];
  changes: readonly Change[];
  /** Absent if the chart changes, because the old release remains until the new one is ready. */
  rollback?: Rollback;
  /** Only to another chart. */
  change?: ChartChange;
}

/** What follows when the release of the new chart is ready. */
export interface ChartChange {
  moves: readonly Step[];
  /** Then drains and uninstalls the old release; its data stays. */
  removal: UninstallPlan;
}

/** How the cluster is read. */
export interface UpgradeReading {
  choices: UpgradeChoices;
  access: ClusterAccess;
  signal: AbortSignal;
}

/** Pure. @throws ExpectedError */
export function planUpgrade(
  installed: InstalledRelease,
  desired: RenderedRelease,
  to: Target,
  choices: UpgradeChoices,
): UpgradePlan {
  const facts = withSecrets(installed, desired);
  // The changes of the values are listed instead of `lostValues`.
  const {keptClaims = [], lostValues: _, ...install} = planInstall(desired, facts, choices);
  const isUpgraded = ofPhase(install.steps, 'release').length > 0;
  const outage = isUpgraded ? outageOf(installed, desired, choices) : NO_OUTAGE;
  const {stopped, deleted} = outage;
  const {timeoutSeconds} = choices;
  const {manifest} = desired;
  const restored = uniqueRefs([...stopped, ...deleted]);
  return {
    desired,
    plan: {
      ...install,
      warnings: [...outage.warnings, ...(install.warnings ?? [])],
      steps: [
        ...withoutScalingOf(deleted, install.steps),
        ...inOrder({
          drain: outage.drain,
          replace: deleted.length === 0 ? [] : [deleteStep(deleted, installed, choices)],
          restore: isUpgraded ? leftResourceSteps(desired, installed) : [],
        }),
      ].toSorted(byPhase),
    },
    advice: adviceFor(installed, desired, to),
    newSettings: newSettingsOf(installed.target, to),
    cleanup: obsoleteSteps(installed, desired, choices),
    rollback: rollbackOf(installed, {manifest, restored, keptClaims, timeoutSeconds}),
    keptClaims,
  };
}

/** What an upgrade stops, and what that means for the runs in flight. */
interface Outage {
  drain: readonly Step[];
  /** Controllers that the drain scales to 0. */
  stopped: readonly ObjectRef[];
  /** Helm creates them again. */
  deleted: readonly ObjectRef[];
  warnings: readonly SettingFinding[];
}

const NO_OUTAGE: Outage = {drain: [], stopped: [], deleted: [], warnings: []};

function outageOf(
  installed: InstalledRelease,
  desired: RenderedRelease,
  choices: UpgradeChoices,
): Outage {
  const {name, inventory} = installed;
  const replaced = changedSelectors(desired, installed);
  const drains = choices.drain && endsRuns(desired, installed, replaced);
  const controllers = controllersOf(desired, installed);
  const drain = drains
    ? drainSteps(name, {...inventory, controllers}, choices, HOW_TO_BREAK_OFF)
    : [];
  const stopped = drain.length === 0 ? [] : controllers.map(toRef);
  const rendered = desired.manifest.map(refOf);
  // A Deployment that is scaled to 0 conflicts with server-side apply.
  const renderedAgain = stopped.filter((each) => includesRef(each, rendered));
  const messages = runWarnings(installed, drains, choices);
  return {
    drain,
    stopped,
    deleted: uniqueRefs([...replaced, ...renderedAgain]),
    warnings: messages.map((message) => warningOf('RUNS', message)),
  };
}

const HOW_TO_BREAK_OFF = 'Upgrade without waiting, which interrupts the runs: --no-drain';

const toRef = ({kind, name}: Controller): ObjectRef => ({kind, name});

/** A deleted Deployment has no replicas to scale: Helm creates it with its replicas. */
const withoutScalingOf = (
  deleted: readonly ObjectRef[],
  steps: readonly ReleaseStep[],
): ReleaseStep[] =>
  steps.filter(
    ({phase, workloads = []}) =>
      phase !== 'start' || !workloads.every((each) => includesRef(each, deleted)),
  );

/** Adds the Secrets that the release needs, and the workloads of others that read them. */
function withSecrets(
  {facts, live, users, unlisted}: InstalledRelease,
  {secrets}: RenderedRelease,
): InstallFacts {
  const found = (secret: DesiredSecret): SecretObject | undefined =>
    live.find(({kind, metadata}) => kind === 'Secret' && metadata.name === secret.name);
  return {
    ...facts,
    secrets: new Map(secrets.map((each) => [each.name, found(each)])),
    secretUsers: usersBySecret(secrets, users),
    unlistedUsers: unlisted,
  };
}

/** Workloads of the release whose selector changes, which Kubernetes refuses. */
const changedSelectors = ({manifest}: RenderedRelease, {live}: InstalledRelease): ObjectRef[] =>
  manifest
    .filter((object) => {
      const selectorOf = (each: KubernetesObject): Tree | undefined =>
        getAt(each as unknown as Tree, at('spec.selector'));
      const found = live.find((each) => isSameRef(refOf(each), refOf(object)));
      const hasSelector = ['Deployment', 'DaemonSet', 'StatefulSet'].includes(object.kind ?? '');
      return hasSelector && found !== undefined && !sameTree(selectorOf(found), selectorOf(object));
    })
    .map(refOf);

/** Those of the deployed revision, and those that an interrupted upgrade has already started. */
function controllersOf(
  {manifest}: RenderedRelease,
  {inventory, live}: InstalledRelease,
): Controller[] {
  const found = live.map(refOf);
  const started = (manifest as readonly Workload[]).filter(
    (object) =>
      object.kind === 'Deployment' &&
      !includesRef(refOf(object), inventory.controllers) &&
      includesRef(refOf(object), found),
  );
  return [
    ...inventory.controllers,
    ...started.map(({metadata, spec}): Controller => {
      const like = {onStop: 'drain' as const, graceSeconds: 0, ...inventory.controllers[0]};
      return {...like, kind: 'Deployment', name: metadata.name, replicas: spec?.replicas ?? 1};
    }),
  ];
}

/** Runs in flight lose the controller, their account or their template, or the restart interrupts them. */
function endsRuns(
  {manifest}: RenderedRelease,
  {facts, inventory}: InstalledRelease,
  replaced: readonly ObjectRef[],
): boolean {
  if (inventory.runsOf === undefined) return false;
  const rendered = manifest.map(refOf);
  const isNeeded = ({apiVersion = '', kind}: KubernetesObject): boolean =>
    kind === 'ServiceAccount' || isCustomApiVersion(apiVersion);
  const loses =
    replaced.length > 0 ||
    facts.installed.some((object) => isNeeded(object) && !includesRef(refOf(object), rendered));
  const interrupts =
    inventory.runs.length > 0 && inventory.controllers.some(({onStop}) => onStop === 'interrupt');
  return loses || interrupts;
}

function runWarnings(
  {facts, target, inventory}: InstalledRelease,
  drains: boolean,
  choices: UpgradeChoices,
): string[] {
  if (drains) return drainWarnings(inventory, choices);
  const {runs, runsOf} = inventory;
  return restartWarnings(
    target,
    facts.release.values,
    runsOf === undefined ? undefined : runs,
    'they continue',
  );
}

const deleteStep = (
  deleted: readonly ObjectRef[],
  installed: InstalledRelease,
  {timeoutSeconds}: UpgradeChoices,
): Step => ({
  id: 'replace',
  title: `Delete ${deleted.map(refText).join(' and ')}, which the upgrade creates again`,
  call: deleteObjects(installed.name.kubeTarget, deleted, timeoutSeconds),
  deletes: deleted.map((each) => ({...each, namespace: installed.name.kubeTarget.namespace})),
  workloads: deleted,
  undo: deleted.flatMap((each) => recreation(each, installed)),
});

/** Creates a deleted workload again, as it was before the upgrade stopped it. */
function recreation(ref: ObjectRef, {name, live, inventory, deployed}: InstalledRelease): Undo[] {
  const before: Workload | undefined = live.find((each) => isSameRef(refOf(each), ref));
  if (before === undefined) return [];
  const {replicas = before.spec?.replicas} =
    inventory.controllers.find((each) => isSameRef(each, ref)) ?? {};
  const {status: _, metadata, spec, ...rest} = before;
  const {labels, annotations} = metadata;
  const object = {
    ...rest,
    metadata: {name: ref.name, ...(labels && {labels}), ...(annotations && {annotations})},
    spec: {...spec, ...(replicas === undefined ? {} : {replicas})},
  };
  return [
    {
      object: ref,
      restores: 'object',
      text: `${refText(ref)} is deleted, so the agent does not run.`,
      call: createObject(name.kubeTarget, object),
      reverted: `${refText(ref)} is created again with its former settings.`,
      byHand: deployed === undefined ? [] : rollbackHints([rollback(name, deployed.revision)]),
    },
  ];
}

/** With client-side apply, Helm does not update custom resources that a failed upgrade has created. */
const leftResourceSteps = (
  {manifest}: RenderedRelease,
  {name, facts, deployed}: InstalledRelease,
): Step[] =>
  facts.release.isServerSide || deployed?.revision === facts.release.revision
    ? []
    : manifest
        .filter(({apiVersion = ''}) => isCustomApiVersion(apiVersion))
        .map((object) => ({
          id: `restore/${object.metadata.name}`,
          title: `Apply ${kindAndName(object)}, which an earlier upgrade may have created`,
          call: applyObjects(name.kubeTarget, [object], {takesOver: true}),
        }));

/** Known problems of both versions, and variables that a container would get twice. */
function adviceFor(
  installed: InstalledRelease,
  {values, effective}: RenderedRelease,
  to: Target,
): UpgradeAdvice[] {
  const {name, target, facts, nodes} = installed;
  const problems = advise(target, to, {
    release: name.release,
    values: effectiveValues(facts.release.values, target),
    server: facts.serverVersion,
    nodes,
  });
  const repeated = repeatedVariables(values, to).map(
    ({name: variable, container, path}): UpgradeAdvice => ({
      ...upgradeFinding('error', 'RESERVED_VARIABLE', {
        message: `${to.chart} ${to.version} sets ${variable} in container ${container} itself, so it would be set twice`,
        remedy: `Remove ${variable} from ${path.join('.')}: set it to null in a file for --values`,
      }),
      versions: to.version,
      automatic: false,
    }),
  );
  return [...repeated, ...problems, ...pinnedAdvice(to, effective)];
}

/** CRDs of older generations that no release and no resource uses after the upgrade. */
const obsoleteSteps = (
  {name, inventory}: InstalledRelease,
  {manifest}: RenderedRelease,
  {timeoutSeconds}: UpgradeChoices,
): Step[] => {
  const needed = new Set(manifest.map(({metadata}) => metadata.name));
  return inventory.definitions
    .filter((each) => !needed.has(each.name) && each.neededBy?.length === 0)
    .map((each) => ({
      id: `crd/${each.name}`,
      title: `Delete CRD ${each.name}, which only a rollback of this release uses`,
      call: deleteObjects(name.kubeTarget, [definitionRef(each)], timeoutSeconds),
      deletes: [definitionRef(each)],
      isDestructive: true,
    }));
};

const definitionRef = ({name}: {name: string}): ObjectRef => ({
  kind: 'CustomResourceDefinition',
  name,
});
