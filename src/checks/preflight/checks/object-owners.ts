import {scalrChart} from '../../../charts/define.ts';
import {compare, within} from '../../../charts/releases.ts';
import type {ChartName} from '../../../charts/schema.ts';
import {gitOpsOwner} from '../../../cluster/kubernetes/gitops-marks.ts';
import {isClusterScoped, isContained, resourceOf} from '../../../cluster/kubernetes/kinds.ts';
import {kindAndName} from '../../../cluster/kubernetes/object-refs.ts';
import type {KubernetesObject} from '../../../cluster/kubernetes/objects.ts';
import {helmOwner, MANAGED_BY, otherOwner} from '../../../cluster/kubernetes/owners.ts';
import type {ScalrRelease} from '../../../cluster/platform/cluster-facts.ts';
import {unrecordedAgents} from '../../../cluster/release/managers.ts';
import {helmCommand, kubectlCommand, ownCommand} from '../../../ground/command-line.ts';
import {isKnown, known, knownValue} from '../../../ground/fact.ts';
import {count, few, groupsOf} from '../../../ground/text.ts';
import {at, getAt, type Tree, type Values} from '../../../ground/tree.ts';
import {
  type CheckResult,
  check,
  fail,
  ifKnown,
  type PreflightContext,
  pass,
  skipUnknown,
} from '../preflight-context.ts';

export const RELEASES = 'list Helm releases';

export const isThisRelease = (
  release: {name: string; namespace: string},
  {name}: PreflightContext,
): boolean => release.name === name.release && release.namespace === name.kubeTarget.namespace;

/** The owner of an object that the chart creates, and how to resolve the conflict. */
interface Owner {
  /** Follows "belongs to". */
  text: string;
  remedy: (objects: readonly KubernetesObject[], context: PreflightContext) => string;
}

/** The owner of a live object that has the name of a chart object; undefined if this release may change it. */
function foreignOwner(live: KubernetesObject, context: PreflightContext): Owner | undefined {
  const gitOps = gitOpsOwner(live);
  if (gitOps)
    return {
      text: `the ${gitOps}`,
      remedy: (objects) => `Remove ${them(objects)} from the ${gitOps}. Or: ${remedyFor(objects)}`,
    };
  const {release, namespace} = helmOwner(live) ?? {};
  if (release !== undefined && namespace !== undefined) {
    const other = {name: release, namespace};
    return isThisRelease(other, context) ? undefined : ownedByRelease(other, context);
  }
  if (context.live.installed.has(kindAndName(live))) return undefined;
  const other = otherOwner(live);
  return other === undefined
    ? {text: 'no Helm release', remedy: adopt}
    : {
        text: other,
        remedy: (objects, about) =>
          `${adopt(objects, about)}\nDo this only if ${other} no longer manages ${them(objects)}.`,
      };
}

function ownedByRelease(
  {name, namespace}: {name: string; namespace: string},
  context: PreflightContext,
): Owner {
  const {kubeTarget} = context.name;
  const {scope, releases} = knownValue(context.readings.releases) ?? {};
  const found = releases?.find((each) => each.name === name && each.namespace === namespace);
  const text = `Helm release ${namespace}/${name}`;
  const owner = {release: name, kubeTarget: {...kubeTarget, namespace}};
  const isHere = namespace === kubeTarget.namespace;
  if (found === undefined && (scope === 'cluster' || (releases !== undefined && isHere))) {
    const clean = `Delete what remains of it: ${ownCommand('uninstall', owner, '--purge=leftovers')}`;
    return {
      text: `${text}, which no longer exists`,
      remedy: (objects, about) =>
        `${clean}\n${isHere ? `Or: ${adopt(objects, about)}` : `Or: ${remedyFor(objects)}`}`,
    };
  }
  // `uninstall` refuses releases of other charts.
  const uninstall =
    found === undefined || scalrChart(found.chart) !== undefined
      ? ownCommand('uninstall', owner)
      : helmCommand(kubeTarget, 'uninstall', name, '--namespace', namespace);
  return {
    text,
    remedy: (objects) => `${remedyFor(objects)}. Or uninstall the other release:\n${uninstall}`,
  };
}

const them = (objects: readonly unknown[]): string => (objects.length === 1 ? 'it' : 'them');

/** How to avoid the conflict: names follow from release and namespace, except for those that a chart fixes. */
const remedyFor = (objects: readonly KubernetesObject[]): string =>
  collisionRemedy(objects.map(kindAndName));

function collisionRemedy(objects: readonly string[]): string {
  if (objects.some((each) => each.startsWith('StorageClass ')))
    return 'Only one release per cluster can use EFS. Use --cache hostpath, or another chart with a PVC';
  return objects.some(isClusterWide)
    ? 'Use another name with --release and another namespace with --namespace'
    : 'Install into another namespace with --namespace';
}

/** The commands that make Helm adopt objects, or that delete them. */
function adopt(objects: readonly KubernetesObject[], context: PreflightContext): string {
  const {manifest, readings, name, tools} = context;
  const {release, kubeTarget} = name;
  const all = knownValue(manifest) ?? [];
  const served = knownValue(readings.resources) ?? [];
  const targets = objects.map(
    (object) => `${resourceOf(object, all, served)}/${object.metadata.name}`,
  );
  const where = ['--namespace', kubeTarget.namespace];
  // Helm 4 applies on the server, which lets no program change the fields of another one.
  const keepsFields = compare(knownValue(tools.helm) ?? '', '4.0.0') >= 0;
  const isAgent =
    unrecordedAgents(
      objects.flatMap((object) => liveOf(object, context) ?? []),
      [],
    ).length > 0;
  if (
    keepsFields &&
    objects.some(
      (object) => !isContained(asTree(object), asTree(liveOf(object, context)), {mayLack: true}),
    )
  )
    return [
      `Helm 4 cannot change fields that another program manages. Delete the existing ${objects.length === 1 ? 'object' : 'objects'} ${isAgent ? 'when this agent executes no run' : `if nothing else uses ${them(objects)}`}:`,
      kubectlCommand(kubeTarget, 'delete', ...targets, ...where),
      `Or: ${remedyFor(objects)}`,
    ].join('\n');
  const annotations = [
    `meta.helm.sh/release-name=${release}`,
    `meta.helm.sh/release-namespace=${kubeTarget.namespace}`,
  ];
  return [
    `Adopt ${them(objects)} into release ${release}, which can change ${them(objects)}:`,
    kubectlCommand(kubeTarget, 'label', ...targets, `${MANAGED_BY}=Helm`, ...where, '--overwrite'),
    kubectlCommand(kubeTarget, 'annotate', ...targets, ...annotations, ...where, '--overwrite'),
    `Or: ${remedyFor(objects)}`,
  ].join('\n');
}

const asTree = (object: KubernetesObject | undefined): Tree => {
  const {metadata: _, ...rest} = object ?? {metadata: {}};
  return rest as Tree;
};

const liveOf = (
  object: KubernetesObject,
  context: PreflightContext,
): KubernetesObject | undefined => knownValue(factOf(object, context));

/** PVCs have their own check, with other remedies. Helm never checks the owner of a CRD; the check `crd` does. */
const CHECKED_SEPARATELY: ReadonlySet<string> = new Set([
  'PersistentVolumeClaim',
  'CustomResourceDefinition',
]);

function liveOwners(context: PreflightContext, manifest: readonly KubernetesObject[]): CheckResult {
  const desired = manifest.filter(({kind = ''}) => !CHECKED_SEPARATELY.has(kind));
  const owned = desired.flatMap((object) => {
    const live = liveOf(object, context);
    const owner = live && foreignOwner(live, context);
    return owner ? [{...owner, object}] : [];
  });
  if (owned.length > 0) {
    const found = groupsOf(owned, ({text}) => text).map((same) => ({
      ...same[0],
      objects: same.map(({object}) => object),
    }));
    const belong = (all: readonly unknown[]): string =>
      all.length === 1 ? 'already exists and belongs' : 'already exist and belong';
    const texts = found.map(
      ({text, objects}) => `${few(objects.map(kindAndName))} ${belong(objects)} to ${text}`,
    );
    return fail(
      texts.join('; '),
      found.map(({remedy, objects}) => remedy(objects, context)).join('\n'),
    );
  }
  for (const object of desired) {
    const fact = factOf(object, context);
    if (!isKnown(fact)) return skipUnknown(fact, `read the owner of ${kindAndName(object)}`);
  }
  const there = desired.filter((object) => liveOf(object, context) !== undefined).length;
  const fresh = desired.length - there;
  return pass(
    [
      ...(fresh > 0 ? [`${count(fresh, 'object')} to create`] : []),
      ...(there > 0 ? [`${count(there, 'object')} of this release`] : []),
    ].join(', '),
  );
}

const factOf = (object: KubernetesObject, {live}: PreflightContext) =>
  live.objects.get(kindAndName(object)) ?? known(undefined, 'none');

/** A release of a known chart that creates objects of these names, even if they are deleted at the moment. */
function predicted(context: PreflightContext): CheckResult | undefined {
  const {manifest, target, values, name, facts} = context;
  const desired = isKnown(manifest)
    ? manifest.value.map(kindAndName)
    : objectNames({name: name.release, namespace: name.kubeTarget.namespace, ...target, values});
  for (const other of knownValue(facts.releases)?.releases.filter(
    (each) => !isThisRelease(each, context),
  ) ?? []) {
    const names = objectNames({...other, values: knownValue(other.values) ?? {}});
    const theirs = names.map((object) => scopedName(object, other.namespace));
    const both = desired.filter((object) =>
      theirs.includes(scopedName(object, name.kubeTarget.namespace)),
    );
    if (both.length > 0)
      return fail(
        `Release ${other.namespace}/${other.name} (${other.chart} ${other.version}) already creates ${few(both)}`,
        collisionRemedy(both),
      );
  }
  return undefined;
}

export function definitionOwner(found: KubernetesObject): string | undefined {
  const release = helmOwner(found);
  return (
    gitOpsOwner(found) ??
    (release && `Helm release ${release.namespace}/${release.release}`) ??
    otherOwner(found)
  );
}

export const objectOwners = check('Release', 'object-names', 'Ownership of chart objects', {
  ref: 'https://helm.sh/docs/faq/changes_since_helm2/; Helm does not adopt objects that it did not create',
  run: (context) => {
    const {manifest} = context;
    const result = ifKnown(manifest, 'render the chart', (objects) => liveOwners(context, objects));
    return result.status === 'fail' ? result : (predicted(context) ?? result);
  },
});

type NamedRelease = Omit<ScalrRelease, 'status' | 'values'> & {values: Values};

interface Row {
  chart: ChartName;
  in?: string;
  objects: readonly string[];
  /** Key of the values that must be set for them. */
  when?: string;
}

/** What each chart is known to create, with the placeholders of objectNames. */
const ROWS: readonly Row[] = [
  {
    chart: 'agent-k8s',
    objects: [
      'Role agent-k8s-role',
      'RoleBinding agent-k8s-role-binding',
      'DaemonSet FULL-worker',
      'Deployment FULL-controller',
    ],
  },
  {chart: 'agent-k8s', objects: ['Secret BASE'], when: 'agent.token'},
  {
    chart: 'agent-k8s',
    objects: ['NetworkPolicy agent-k8s-network-policy'],
    when: 'restrictMetadataService',
  },
  {
    chart: 'agent-k8s',
    objects: [
      'StorageClass agent-k8s-efs-sc',
      'PersistentVolume agent-k8s-efs-pv',
      'PersistentVolumeClaim agent-k8s-efs-claim',
    ],
    when: 'efsVolumeHandle',
  },
  {chart: 'agent-local', objects: ['Deployment FULL']},
  {chart: 'agent-local', in: '<=0.5.54', objects: ['Secret BASE-token'], when: 'agent.token'},
  {chart: 'agent-local', in: '>=0.5.55', objects: ['Secret FULL-token'], when: 'agent.token'},
  {
    chart: 'agent-job',
    in: '<=0.5.63',
    objects: [
      'Role agent-job-role',
      'Deployment scalr-agent-controller',
      'AgentWorker scalr-agent-worker',
      'ClusterRole agent-job-cluster-role-RELEASE',
    ],
  },
  {
    chart: 'agent-job',
    in: '0.5.64 - 0.5.67',
    objects: [
      'Deployment scalr-agent',
      'AgentTask scalr-agent-task',
      'Role FULL-role',
      'ClusterRole FULL-clusterrole',
    ],
  },
  {
    chart: 'agent-job',
    in: '>=0.5.68',
    objects: [
      'Deployment FULL',
      'AgentTaskTemplate FULL-task-template',
      'Role FULL-role',
      'ClusterRole NAMESPACE-FULL-clusterrole',
    ],
  },
];

/** Names of the objects that a release creates: Role agent-k8s-role */
function objectNames({name, namespace, chart, version, values}: NamedRelease): string[] {
  const textAt = (path: string): string => String(getAt(values, at(path)) ?? '');
  const base =
    textAt('nameOverride') ||
    (chart === 'agent-job' && within(version, '>=0.5.68') ? 'scalr-agent' : chart);
  const full = textAt('fullnameOverride') || (name.includes(base) ? name : `${name}-${base}`);
  const fill: Readonly<Record<string, string>> = {
    FULL: full,
    BASE: base,
    RELEASE: name,
    NAMESPACE: namespace,
  };
  return ROWS.filter(
    (row) =>
      row.chart === chart &&
      within(version, row.in) &&
      (row.when === undefined || !['', 'false'].includes(textAt(row.when))),
  )
    .flatMap((row) => row.objects)
    .map((object) =>
      object.replaceAll(/FULL|BASE|RELEASE|NAMESPACE/g, (word) => fill[word] as string),
    );
}

const isClusterWide = (object: string): boolean => isClusterScoped(object.split(' ')[0] as string);

/** With its namespace, where the kind has one: team-a/Role agent-k8s-role */
const scopedName = (object: string, namespace: string): string =>
  isClusterWide(object) ? object : `${namespace}/${object}`;
