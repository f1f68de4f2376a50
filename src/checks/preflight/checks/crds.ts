import {showDefinitions} from '../../../cluster/helm/chart-calls.ts';
import {gitOpsOwner} from '../../../cluster/kubernetes/gitops-marks.ts';
import {isContained} from '../../../cluster/kubernetes/kinds.ts';
import {kindAndName} from '../../../cluster/kubernetes/object-refs.ts';
import type {DefinitionObject, KubernetesObject} from '../../../cluster/kubernetes/objects.ts';
import {helmOwner, otherOwner} from '../../../cluster/kubernetes/owners.ts';
import {definitionOf, type ScalrRelease} from '../../../cluster/platform/cluster-facts.ts';
import {
  NOTHING_READ,
  type ObjectUser,
  objectUsers,
  userText,
} from '../../../cluster/release/object-users.ts';
import {callText} from '../../../ground/call-arguments.ts';
import {kubectlCommand} from '../../../ground/command-line.ts';
import {type Fact, isKnown, knownValue, type Unknown} from '../../../ground/fact.ts';
import {few} from '../../../ground/text.ts';
import type {Tree} from '../../../ground/tree.ts';
import {chartSource} from '../../../settings/release.ts';
import type {PreflightContext} from '../facts/context.ts';
import {check} from './check.ts';
import {type CheckResult, cannot, fail, ifKnown, pass, unreadable, warn} from './check-result.ts';
import {isThisRelease, onlyOfNamespace, otherReleases} from './other-releases.ts';

const withVersion = ({name, namespace, version}: ScalrRelease): string =>
  `${namespace}/${name} (${version})`;

/** One release by its name, more by their number. */
const releasesText = (releases: readonly ScalrRelease[]): string =>
  releases.length === 1 ? releases.map(withVersion).join() : `${releases.length} other releases`;

const showDefinitionsOf = ({target: {chart, version}, get}: PreflightContext) =>
  callText(showDefinitions({chart, version, source: get(chartSource)}));

const applyDefinitions = (context: PreflightContext): string =>
  `Apply the CRD of ${context.target.version}: ${showDefinitionsOf(context)} | ${kubectlCommand(context.name.kubeTarget, 'apply', '--server-side', '--force-conflicts', '--filename', '-')}`;

/** Compares the CRD in the cluster with the one of the chart; undefined if one of them does not exist, or Helm or the install can change it. */
function compareDefinition(name: string, context: PreflightContext): CheckResult | undefined {
  const key = `CustomResourceDefinition ${name}`;
  const {
    manifest,
    live: {objects},
  } = context;
  if (!isKnown(manifest)) return unreadable(manifest, 'render the chart');
  const desired: DefinitionObject | undefined = manifest.value.find(
    (each) => kindAndName(each) === key,
  );
  const live = objects.get(key);
  if (live !== undefined && !isKnown(live)) return unreadable(live, `read CRD ${name}`);
  const found: DefinitionObject | undefined = live?.value;
  if (desired === undefined || found === undefined) return undefined;
  const owner = definitionOwner(found);
  const of = owner === undefined ? '' : ` of ${owner}`;
  if (isContained(desired.spec as Tree, found.spec as Tree))
    return pass(`CRD ${name}${of} matches the chart`);
  if (owner !== undefined)
    return warn(
      `CRD ${name} belongs to ${owner} and differs from ${context.target.chart} ${context.target.version}`,
      `Update the CRD in ${owner} to this version: ${showDefinitionsOf(context)}`,
    );
  return undefined;
}

function definitionOwner(found: KubernetesObject): string | undefined {
  const release = helmOwner(found);
  return (
    gitOpsOwner(found) ??
    (release && `Helm release ${release.namespace}/${release.release}`) ??
    otherOwner(found)
  );
}

export const chartDefinition = check('Release', 'crd', 'CustomResourceDefinition of the chart', {
  ref: 'https://helm.sh/docs/chart_best_practices/custom_resource_definitions/',
  run: (context) => {
    const {target, facts} = context;
    if (target.chart !== 'agent-job') return undefined;
    const name = definitionOf(target.version);
    return ifKnown(facts.definitions, 'list CRDs', (definitions) => {
      const exists = definitions.includes(name);
      const compared = exists ? compareDefinition(name, context) : undefined;
      if (compared !== undefined) return compared;
      if (!isKnown(facts.releases)) return unreadable(facts.releases, 'list agent releases');
      const own = facts.releases.value.releases.find((each) => isThisRelease(each, context));
      if (own?.chart === 'agent-job' && own.version === target.version) {
        if (exists) return pass(`CRD ${name} exists`);
        return fail(
          `CRD ${name} of release ${own.name} not found. Helm creates CRDs only for a new release`,
          applyDefinitions(context),
        );
      }
      if (own !== undefined)
        return pass(`CRD ${name} is applied before release ${own.name} is upgraded`);
      return exists
        ? ofOtherRelease(name, context)
        : pass(`Helm creates CRD ${name} with the release`);
    });
  },
});

/** A CRD that exists before the release is installed. */
function ofOtherRelease(name: string, context: PreflightContext): CheckResult {
  const {version} = context.target;
  const task = `determine the version of the existing CRD ${name}`;
  return ifKnown(otherReleases(context, 'agent-job'), task, ({scope, others}) => {
    const same = others.find((each) => each.version === version);
    if (same) return pass(`CRD ${name} was created by release ${withVersion(same)}`);
    const apply = applyDefinitions(context);
    if (scope === 'namespace') return cannot(task, onlyOfNamespace(context), apply);
    const from = others.length === 0 ? 'an earlier install' : releasesText(others);
    return warn(
      `CRD ${name} from ${from} already exists. Helm does not update it, and ${version} may require a newer one`,
      apply,
    );
  });
}

export const leftDefinitions = check('Release', 'leftover-crds', 'CRDs of earlier chart versions', {
  ref: 'agent-job 0.5.64 and 0.5.68 renamed their CRDs; Helm never deletes CRDs',
  run: (context) => {
    const {target, facts} = context;
    if (target.chart !== 'agent-job') return undefined;
    return ifKnown(facts.definitions, 'list CRDs', (definitions) => {
      const others = definitions.filter((name) => name !== definitionOf(target.version));
      return others.length === 0 ? pass('No CRDs of other versions') : usesOf(others, context);
    });
  },
});

/** Nothing that somebody uses, or may use, is offered for deletion. */
function usesOf(names: readonly string[], context: PreflightContext): CheckResult {
  const found = names.map((name) => ({name, users: definitionUsers(name, context)}));
  const unused = found.filter(({users}) => users?.length === 0).map(({name}) => name);
  if (unused.length > 0) return unusedDefinitions(unused, context);
  const unknown = found.filter(({users}) => users === undefined).map(({name}) => name);
  if (unknown.length > 0) return skipUses(unknown, context);
  const users = found.flatMap((each) => each.users ?? []).map((user) => userText(user));
  return pass(`${few(names)}: used by ${few([...new Set(users)], 3)}`);
}

function unusedDefinitions(names: readonly string[], {name}: PreflightContext): CheckResult {
  const remove = kubectlCommand(name.kubeTarget, 'delete', 'crd', ...names);
  const isOne = names.length === 1;
  return warn(
    `${few(names)} ${isOne ? 'remains' : 'remain'} from an earlier version, and no release, older revision or custom resource uses ${isOne ? 'it' : 'them'}`,
    `Delete ${isOne ? 'it' : 'them'}: ${remove}`,
  );
}

function definitionUsers(
  name: string,
  {name: {release, kubeTarget}, readings, live}: PreflightContext,
): readonly ObjectUser[] | undefined {
  const {scope, releases} = knownValue(readings.releases) ?? {};
  return objectUsers(
    {kind: 'CustomResourceDefinition', name},
    {
      ...NOTHING_READ,
      release,
      namespace: kubeTarget.namespace,
      customResources: knownValue(live.customResources),
      revisions: knownValue(live.revisions),
      releases: scope === 'cluster' ? releases : undefined,
    },
  );
}

function skipUses(names: readonly string[], context: PreflightContext): CheckResult {
  const {live, readings} = context;
  const task = `determine what uses CRD ${few(names)}`;
  const facts: readonly Fact<unknown>[] = [readings.releases, live.customResources, live.revisions];
  const missing = facts.find((fact): fact is Unknown => !isKnown(fact));
  return missing === undefined ? cannot(task, onlyOfNamespace(context)) : unreadable(missing, task);
}
