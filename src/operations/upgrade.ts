import {
  advise,
  type NewSetting,
  newSettingsOf,
  pinnedAdvice,
  type UpgradeAdvice,
} from '../charts/advise.ts';
import type {Target} from '../charts/define.ts';
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
import type {
  DefinitionObject,
  KubernetesObject,
  SecretObject,
  Workload,
} from '../cluster/kubernetes/objects.ts';
import {
  type DesiredSecret,
  type RenderedRelease,
  renderChart,
} from '../cluster/release/desired-release.ts';
import type {Controller} from '../cluster/release/inventory.ts';
import type {InstalledRelease} from '../cluster/release/read-inventory.ts';
import type {InstallFacts} from '../cluster/release/read-release.ts';
import {at, getAt, sameTree, type Tree} from '../ground/tree.ts';
import {effectiveValues} from '../values/reading/read-values.ts';
import {repeatedVariables} from '../values/rules/check-values.ts';
import {type InstallChoices, isCustomApiVersion, planInstall} from './install.ts';
import {usersBySecret} from './install-secrets.ts';
import {claimsToKeep} from './kept-claims.ts';
import {type Migration, withOldClaims, withValues} from './migrated-release.ts';
import {restartWarnings} from './restart-warnings.ts';
import {rollbackHints, rollbackSteps} from './rollback-steps.ts';
import {byPhase, inOrder, ofPhase, type Plan, type Step, type Undo} from './step.ts';
import {drainSteps, drainWarnings} from './uninstall.ts';

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

export interface Rollback {
  /** Empty if a rollback is not possible. */
  steps: readonly Step[];
  /** What a rollback does not restore, or why a rollback is not possible. */
  limits: readonly string[];
}

/** Renders the desired version with the migrated values, and plans the steps. Reads, changes nothing. @throws ExpectedError */
export async function prepareUpgrade(
  installed: InstalledRelease,
  migration: Migration,
  to: Target,
  choices: UpgradeChoices,
  {processes}: Pick<ClusterAccess, 'processes'>,
): Promise<UpgradePlan> {
  const {facts} = installed;
  const render = (desired: Migration['desired']): Promise<KubernetesObject[]> =>
    renderChart(desired, facts, () => undefined, processes);
  const first = {...migration.desired, manifest: await render(migration.desired)};
  const keptClaims = claimsToKeep(first, facts);
  const values = withOldClaims(first.values, to, keptClaims);
  const remounted = withValues(first, values, to);
  const desired = sameTree(values, first.values)
    ? first
    : {...remounted, manifest: await render(remounted)};
  return planUpgrade(installed, desired, to, choices);
}

/** Pure. @throws ExpectedError */
export function planUpgrade(
  installed: InstalledRelease,
  desired: RenderedRelease,
  to: Target,
  choices: UpgradeChoices,
): UpgradePlan {
  const {name, inventory} = installed;
  const {keptClaims = [], ...planned} = planInstall(
    desired,
    withSecrets(installed, desired),
    choices,
  );
  const isUpgraded = ofPhase(planned.steps, 'release').length > 0;
  const replaced = isUpgraded ? changedSelectors(desired, installed) : [];
  const drains = isUpgraded && choices.drain && endsRuns(desired, installed, replaced);
  const controllers = controllersOf(desired, installed);
  const howToBreakOff = 'Upgrade without waiting, which interrupts the runs: --no-drain';
  const drained = drains
    ? drainSteps(name, {...inventory, controllers}, choices, howToBreakOff)
    : [];
  // Helm creates a deleted Deployment again, with its replicas; one that is scaled to 0 conflicts with server-side apply.
  const stopped =
    drained.length === 0
      ? []
      : controllers.map(({kind, name: stoppedName}) => ({kind, name: stoppedName}));
  const rendered = desired.manifest.map(refOf);
  const deleted = uniqueRefs([
    ...replaced,
    ...stopped.filter((each) => includesRef(each, rendered)),
  ]);
  const removes = deleted.length === 0 ? [] : [deleteStep(deleted, installed, choices)];
  return {
    desired,
    plan: {
      ...(planned.risk === undefined ? {} : {risk: planned.risk}),
      warnings: [
        ...(isUpgraded
          ? runWarnings(installed, drains, choices).map((message) => ({code: 'RUNS', message}))
          : []),
        ...(planned.warnings ?? []),
      ],
      steps: [
        // A deleted Deployment has no replicas to scale.
        ...planned.steps.filter(
          ({phase, workloads = []}) =>
            phase !== 'start' || !workloads.every((each) => includesRef(each, deleted)),
        ),
        ...inOrder({
          drain: drained,
          replace: removes,
          restore: isUpgraded ? leftResourceSteps(desired, installed) : [],
        }),
      ].toSorted(byPhase),
    },
    advice: adviceFor(installed, desired, to),
    newSettings: newSettingsOf(installed.target, to),
    cleanup: obsoleteSteps(installed, desired, choices),
    rollback: rollbackOf(
      installed,
      desired,
      {restored: uniqueRefs([...stopped, ...deleted]), keptClaims},
      choices,
    ),
    keptClaims,
  };
}

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
      code: 'RESERVED_VARIABLE',
      level: 'blocking',
      versions: to.version,
      reason: `${to.chart} ${to.version} sets ${variable} in container ${container} itself, so it would be set twice`,
      remedy: `Remove ${variable} from ${path.join('.')}: set it to null in a file for --values`,
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

/** Helm restores everything but CRDs. Measured with Helm 3 and 4: docs/guide/install-and-upgrade.md, "Rollback". */
function rollbackOf(
  {name, deployed, definitions = [], inventory}: InstalledRelease,
  {manifest}: RenderedRelease,
  {restored, keptClaims}: {restored: readonly ObjectRef[]; keptClaims: readonly string[]},
  {timeoutSeconds}: UpgradeChoices,
): Rollback {
  if (deployed === undefined)
    return {
      steps: [],
      limits: ['No revision of the release is deployed, so a rollback is not possible.'],
    };
  const {kubeTarget} = name;
  return {
    steps: [
      ...(restored.length === 0
        ? []
        : [
            {
              id: 'restore',
              title: `Delete ${restored.map(refText).join(' and ')}`,
              call: deleteObjects(kubeTarget, restored, timeoutSeconds),
            },
          ]),
      ...rollbackSteps(name, deployed.revision, keptClaims),
    ],
    limits: [
      ...storageLimits(definitions, manifest),
      ...(keptClaims.length > 0
        ? [
            'PVCs keep the annotation helm.sh/resource-policy, so later upgrades do not delete them.',
          ]
        : []),
      ...inventory.definitions
        .filter((each) => !manifest.some(({metadata}) => metadata.name === each.name))
        .map(
          (each) =>
            `A rollback requires CRD ${each.name}: it is not possible after the CRD is deleted.`,
        ),
    ],
  };
}

/** CRDs are never rolled back; objects stay in the version in which they were stored. */
const storageLimits = (
  definitions: readonly DefinitionObject[],
  manifest: readonly DefinitionObject[],
): string[] =>
  manifest
    .filter(({kind}) => kind === 'CustomResourceDefinition')
    .flatMap((next) => {
      const former = definitions.find(({metadata}) => metadata.name === next.metadata.name);
      if (former === undefined)
        return [
          `CRD ${next.metadata.name} remains after a rollback, because Helm does not manage CRDs.`,
        ];
      const [was, is] = [former, next].map(
        ({spec}) => spec?.versions?.find(({storage}) => storage)?.name,
      );
      return was === is
        ? []
        : [
            `CRD ${next.metadata.name} stores objects as ${is} instead of ${was}, even after a rollback.`,
          ];
    });
