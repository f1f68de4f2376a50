import {scalrChart} from '../../../charts/releases/chart-name.ts';
import {compare} from '../../../charts/releases/versions.ts';
import {gitOpsOwner} from '../../../cluster/kubernetes/gitops-marks.ts';
import {isClusterScoped, isContained, resourceOf} from '../../../cluster/kubernetes/kinds.ts';
import {kindAndName} from '../../../cluster/kubernetes/object-refs.ts';
import type {KubernetesObject} from '../../../cluster/kubernetes/objects.ts';
import {helmOwner, MANAGED_BY, otherOwner} from '../../../cluster/kubernetes/owners.ts';
import {unrecordedAgents} from '../../../cluster/release/managers.ts';
import {helmCommand, kubectlCommand, ownCommand} from '../../../ground/command-line.ts';
import {isKnown, knownValue} from '../../../ground/fact.ts';
import {changing, type Remedy} from '../../../ground/finding.ts';
import {count, few, groupsOf} from '../../../ground/text.ts';
import type {Tree} from '../../../ground/tree.ts';
import {cache} from '../../../settings/cache.ts';
import {namespace, release} from '../../../settings/release.ts';
import {withValue} from '../../../settings/spelling.ts';
import type {PreflightContext} from '../facts/context.ts';
import {liveFact, liveObject} from '../facts/live-objects.ts';
import {check} from './check.ts';
import {type CheckResult, ifKnown, pass, unreadable} from './check-result.ts';
import {isThisRelease} from './other-releases.ts';

/** The owner of an object that the chart creates, and how to resolve the conflict. */
interface Owner {
  /** Follows "belongs to". */
  text: string;
  remedy: (objects: readonly KubernetesObject[], context: PreflightContext) => Remedy;
}

/** The owner of a live object that has the name of a chart object; undefined if this release may change it. */
function foreignOwner(live: KubernetesObject, context: PreflightContext): Owner | undefined {
  const gitOps = gitOpsOwner(live);
  if (gitOps)
    return {
      text: `the ${gitOps}`,
      remedy: (objects) =>
        changing`Remove ${them(objects)} from the ${gitOps}. Or: ${remedyFor(objects)}`,
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
          changing`${adopt(objects, about)}\nDo this only if ${other} no longer manages ${them(objects)}.`,
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
        changing`${clean}\nOr: ${isHere ? adopt(objects, about) : remedyFor(objects)}`,
    };
  }
  // `uninstall` refuses releases of other charts.
  const uninstall =
    found === undefined || scalrChart(found.chart) !== undefined
      ? ownCommand('uninstall', owner)
      : helmCommand(kubeTarget, 'uninstall', name, '--namespace', namespace);
  return {
    text,
    remedy: (objects) =>
      changing`${remedyFor(objects)}. Or uninstall the other release:\n${uninstall}`,
  };
}

const them = (objects: readonly unknown[]): string => (objects.length === 1 ? 'it' : 'them');

/** How to avoid the conflict: names follow from release and namespace, except for those that a chart fixes. */
function remedyFor(objects: readonly KubernetesObject[]): Remedy {
  const kinds = objects.map(({kind = ''}) => kind);
  if (kinds.includes('StorageClass'))
    return changing`Only one release per cluster can use EFS. Use ${withValue(cache, 'hostpath')}, or another chart with a PVC`;
  return kinds.some(isClusterScoped)
    ? changing`Use another name with ${release} and another namespace with ${namespace}`
    : changing`Install into another namespace with ${namespace}`;
}

/** How Helm can create objects that exist without an owner. */
function adopt(objects: readonly KubernetesObject[], context: PreflightContext): Remedy {
  const {manifest, readings, tools} = context;
  const all = knownValue(manifest) ?? [];
  const served = knownValue(readings.resources) ?? [];
  const targets = objects.map(
    (object) => `${resourceOf(object, all, served)}/${object.metadata.name}`,
  );
  // Helm 4 applies on the server, which lets no program change the fields of another one.
  const keepsFields = compare(knownValue(tools.helm) ?? '', '4.0.0') >= 0;
  const mustDelete = keepsFields && objects.some((object) => isChanged(object, context));
  const commands = mustDelete
    ? deletion(objects, targets, context)
    : adoption(objects, targets, context);
  return changing`${commands.join('\n')}\nOr: ${remedyFor(objects)}`;
}

function deletion(
  objects: readonly KubernetesObject[],
  targets: readonly string[],
  context: PreflightContext,
): string[] {
  const {kubeTarget} = context.name;
  const live = objects.flatMap((object) => liveObject(object, context) ?? []);
  const isAgent = unrecordedAgents(live, []).length > 0;
  const noun = objects.length === 1 ? 'object' : 'objects';
  const when = isAgent
    ? 'when this agent executes no run'
    : `if nothing else uses ${them(objects)}`;
  return [
    `Helm 4 cannot change fields that another program manages. Delete the existing ${noun} ${when}:`,
    kubectlCommand(kubeTarget, 'delete', ...targets, '--namespace', kubeTarget.namespace),
  ];
}

function adoption(
  objects: readonly KubernetesObject[],
  targets: readonly string[],
  {name: {release, kubeTarget}}: PreflightContext,
): string[] {
  const {namespace} = kubeTarget;
  const where = ['--namespace', namespace, '--overwrite'];
  const annotations = [
    `meta.helm.sh/release-name=${release}`,
    `meta.helm.sh/release-namespace=${namespace}`,
  ];
  return [
    `Adopt ${them(objects)} into release ${release}, which can change ${them(objects)}:`,
    kubectlCommand(kubeTarget, 'label', ...targets, `${MANAGED_BY}=Helm`, ...where),
    kubectlCommand(kubeTarget, 'annotate', ...targets, ...annotations, ...where),
  ];
}

/** Fields of the live object differ from the chart. */
const isChanged = (object: KubernetesObject, context: PreflightContext): boolean =>
  !isContained(asTree(object), asTree(liveObject(object, context)), {mayLack: true});

const asTree = (object: KubernetesObject | undefined): Tree => {
  const {metadata: _, ...rest} = object ?? {metadata: {}};
  return rest as Tree;
};

/** PVCs have their own check, with other remedies. Helm never checks the owner of a CRD; the check `crd` does. */
const CHECKED_SEPARATELY: ReadonlySet<string> = new Set([
  'PersistentVolumeClaim',
  'CustomResourceDefinition',
]);

function liveOwners(manifest: readonly KubernetesObject[], context: PreflightContext): CheckResult {
  const desired = manifest.filter(({kind = ''}) => !CHECKED_SEPARATELY.has(kind));
  const owned = desired.flatMap((object) => {
    const live = liveObject(object, context);
    const owner = live && foreignOwner(live, context);
    return owner ? [{owner, object}] : [];
  });
  if (owned.length > 0) return ownedByOthers(owned, context);
  for (const object of desired) {
    const fact = liveFact(object, context);
    if (!isKnown(fact)) return unreadable(fact, `read the owner of ${kindAndName(object)}`);
  }
  const existing = desired.filter((object) => liveObject(object, context) !== undefined).length;
  const created = desired.length - existing;
  return pass(
    [
      ...(created > 0 ? [`${count(created, 'object')} to create`] : []),
      ...(existing > 0 ? [`${count(existing, 'object')} of this release`] : []),
    ].join(', '),
  );
}

function ownedByOthers(
  owned: readonly {owner: Owner; object: KubernetesObject}[],
  context: PreflightContext,
): CheckResult {
  const found = groupsOf(owned, ({owner}) => owner.text).map((same) => ({
    owner: same[0].owner,
    objects: same.map(({object}) => object),
  }));
  const texts = found.map(({owner, objects}) => {
    const names = few(objects.map(kindAndName));
    const belong = objects.length === 1 ? 'exists and belongs' : 'exist and belong';
    return `${names} already ${belong} to ${owner.text}`;
  });
  const remedies = found.map(({owner, objects}) => owner.remedy(objects, context));
  return {verdict: 'error', message: texts.join('; '), remedies};
}

export const objectOwners = check('Release', 'object-names', 'Ownership of chart objects', {
  ref: 'https://helm.sh/docs/faq/changes_since_helm2/; Helm does not adopt objects that it did not create',
  run: (context) =>
    ifKnown(context.manifest, 'render the chart', (objects) => liveOwners(objects, context)),
});
