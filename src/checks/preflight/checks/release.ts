import {posix} from 'node:path';
import {CHART_CHANGES, changeWithUpgrade} from '../../../charts/advise.ts';
import {isBelow} from '../../../charts/charts.ts';
import {uniqueName} from '../../../charts/clouds.ts';
import {scalrChart} from '../../../charts/define.ts';
import {scopeOf} from '../../../charts/support.ts';
import {showDefinitions} from '../../../cluster/helm/chart-calls.ts';
import {isContained} from '../../../cluster/kubernetes/kinds.ts';
import {kindAndName} from '../../../cluster/kubernetes/object-refs.ts';
import type {DefinitionObject, KubernetesObject} from '../../../cluster/kubernetes/objects.ts';
import {helmOwner} from '../../../cluster/kubernetes/owners.ts';
import {definitionOf, type ScalrRelease} from '../../../cluster/platform/cluster-facts.ts';
import {
  DIRECTORY,
  NOTHING_READ,
  type ObjectUser,
  objectUsers,
  userText,
} from '../../../cluster/release/object-users.ts';
import {callText} from '../../../ground/call-arguments.ts';
import {kubectlCommand, ownCommand} from '../../../ground/command-line.ts';
import {type Fact, isKnown, knownValue, mapped, type Unknown} from '../../../ground/fact.ts';
import {few} from '../../../ground/text.ts';
import {at, getAt, mergeValues, type Tree, type Values} from '../../../ground/tree.ts';
import {purpose} from '../../../settings/agent.ts';
import {agentImage} from '../../../settings/pods.ts';
import {chartSource} from '../../../settings/release.ts';
import {readValues} from '../../../values/reading/read-values.ts';
import {
  type Check,
  type CheckResult,
  check,
  fail,
  ifKnown,
  type PreflightContext,
  pass,
  skip,
  skipUnknown,
  warn,
} from '../preflight-context.ts';
import {definitionOwner, isThisRelease, objectOwners, RELEASES} from './object-owners.ts';

const withVersion = ({name, namespace, version}: ScalrRelease): string =>
  `${namespace}/${name} (${version})`;

/** One release by its name, more by their number. */
const releasesText = (releases: readonly ScalrRelease[]): string =>
  releases.length === 1 ? releases.map(withVersion).join() : `${releases.length} other releases`;

/** Why releases of other namespaces are unknown. */
const onlyOfNamespace = (context: PreflightContext): string =>
  `your user can only list releases of namespace ${context.name.kubeTarget.namespace}`;

const releaseName = check('Release', 'release-name', 'Helm release', {
  ref: 'https://helm.sh/docs/helm/helm_upgrade/',
  run: (context) =>
    ifKnown(context.readings.releases, RELEASES, ({releases}) => {
      const {target, name} = context;
      const {namespace} = name.kubeTarget;
      const found = releases.find((each) => isThisRelease(each, context));
      if (found === undefined) return pass(`No release ${name.release} in ${namespace} yet`);
      const ours = scalrChart(found.chart);
      const text = `Release ${found.name} in ${namespace} is ${found.chart}`;
      if (ours === undefined)
        return fail(
          `${text}, which is not a Scalr agent. An upgrade would replace it`,
          'Use another name with --release',
        );
      if (/^(pending-|uninstalling)/.test(found.status))
        return warn(
          `${text} with status ${found.status}: a Helm operation is in progress or was interrupted`,
          'Wait until the operation ends. If it was interrupted, scalr-agent install marks it as failed and continues',
        );
      if (ours.chart !== target.chart)
        return warn(
          `${text}. An install of ${target.chart} ${CHART_CHANGES.install}`,
          changeWithUpgrade(target.chart, ownCommand('upgrade', name)),
        );
      return pass(`${found.chart} in ${namespace}, ${found.status}`);
    }),
});

const othersOf = (context: PreflightContext, chart: ScalrRelease['chart']) =>
  mapped(context.facts.releases, ({scope, releases}) => ({
    scope,
    others: releases.filter((each) => each.chart === chart && !isThisRelease(each, context)),
  }));

const directoryOf = (values: Values): string | undefined => {
  const path = getAt(values, at('agent.data_home'));
  const isEfs = Boolean(getAt(values, at('efsVolumeHandle')));
  return typeof path === 'string' && !isEfs ? posix.normalize(`${path}/`) : undefined;
};

const selectorOf = (values: Values): Values =>
  (getAt(values, at('workerNodeSelector')) ?? {}) as Values;

/** A node has one value for each label. */
const areOnOtherNodes = (one: Values, other: Values): boolean =>
  Object.entries(one).some(([key, value]) => other[key] !== undefined && other[key] !== value);

const effectiveValuesOf = ({chart, version, values}: ScalrRelease): Values =>
  mergeValues(scopeOf({chart, version}).defaults, knownValue(values) ?? {});

const releaseText = ({namespace, name}: ScalrRelease): string => `release ${namespace}/${name}`;

/** Agents without a Helm release, such as those of Argo CD; Helm knows the values of the others. */
function unrecordedUsers(path: string, context: PreflightContext): string[] {
  const {name, readings, values} = context;
  const nodeSelectorOf = (each: KubernetesObject): Values =>
    (getAt(each as unknown as Tree, at('spec.template.spec.nodeSelector')) ?? {}) as Values;
  const workloads = (knownValue(readings.daemonSets) ?? []).filter(
    (each) =>
      helmOwner(each) === undefined && !areOnOtherNodes(selectorOf(values), nodeSelectorOf(each)),
  );
  const users = objectUsers(
    {kind: DIRECTORY, name: path},
    {
      ...NOTHING_READ,
      release: name.release,
      namespace: name.kubeTarget.namespace,
      workloads,
      customResources: [],
      releases: [],
      revisions: [],
    },
  );
  return (users ?? []).map((user) => userText(user));
}

function freeDirectory(path: string, {get}: PreflightContext): string {
  const unique = uniqueName(get);
  return posix.join(posix.dirname(path), posix.basename(path) === unique ? `${unique}-2` : unique);
}

const nodeData = check('Release', 'node-data', 'Node data directory', {
  ref: 'agent-k8s 0.6.5, README',
  run: (context) => {
    const {target, values} = context;
    const own = directoryOf(values);
    if (target.chart !== 'agent-k8s' || own === undefined) return undefined;
    return ifKnown(othersOf(context, 'agent-k8s'), RELEASES, ({scope, others}) => {
      const shared = others.filter((each) => {
        const theirs = directoryOf(effectiveValuesOf(each));
        const isNested = theirs !== undefined && (theirs.startsWith(own) || own.startsWith(theirs));
        return (
          isKnown(each.values) &&
          isNested &&
          !areOnOtherNodes(selectorOf(values), selectorOf(effectiveValuesOf(each)))
        );
      });
      const path = own.replace(/\/$/, '');
      const users = [...shared.map(releaseText), ...unrecordedUsers(path, context)];
      if (users.length > 0)
        return fail(
          `${path} is also used by ${few(users)}`,
          `Use another directory: --data-home ${freeDirectory(path, context)}`,
        );
      const hidden = others.filter((each) => !isKnown(each.values));
      if (hidden.length > 0)
        return skip(`Cannot read the values of ${few(hidden.map(releaseText))}`);
      const {daemonSets} = context.readings;
      if (!isKnown(daemonSets)) return skipUnknown(daemonSets, 'list DaemonSets');
      if (scope === 'namespace')
        return skip(
          `Cannot check whether agents in other namespaces use ${path}: ${onlyOfNamespace(context)}`,
        );
      return pass(`${path} is not used by another release`);
    });
  },
});

const showDefinitionsOf = ({target: {chart, version}, get}: PreflightContext) =>
  callText(showDefinitions({chart, version, source: get(chartSource)}));

const applyDefinitions = (context: PreflightContext): string =>
  `Apply the CRD of ${context.target.version}: ${showDefinitionsOf(context)} | ${kubectlCommand(context.name.kubeTarget, 'apply', '--server-side', '--force-conflicts', '--filename', '-')}`;

/** Compares the CRD in the cluster with the one of the chart; undefined if one of them is unknown, or Helm or the install can change it. */
function compareDefinition(name: string, context: PreflightContext): CheckResult | undefined {
  const key = `CustomResourceDefinition ${name}`;
  const desired: DefinitionObject | undefined = knownValue(context.manifest)?.find(
    (each) => kindAndName(each) === key,
  );
  const live = context.live.objects.get(key);
  const found: DefinitionObject | undefined = live && knownValue(live);
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

const definition = check('Release', 'crd', 'CustomResourceDefinition of the chart', {
  ref: 'https://helm.sh/docs/chart_best_practices/custom_resource_definitions/',
  run: (context) => {
    const {target, facts} = context;
    if (target.chart !== 'agent-job') return undefined;
    const name = definitionOf(target.version);
    return ifKnown(facts.definitions, 'list CRDs', (definitions) => {
      const own = knownValue(facts.releases)?.releases.find((each) => isThisRelease(each, context));
      const isThere = definitions.includes(name);
      const compared = isThere ? compareDefinition(name, context) : undefined;
      if (compared !== undefined) return compared;
      if (own?.chart === 'agent-job' && own.version === target.version) {
        if (isThere) return pass(`CRD ${name} exists`);
        return fail(
          `CRD ${name} of release ${own.name} not found. Helm creates CRDs only for a new release`,
          applyDefinitions(context),
        );
      }
      if (own !== undefined)
        return pass(`CRD ${name} is applied before release ${own.name} is upgraded`);
      if (!isThere) return pass(`Helm creates CRD ${name} with the release`);
      return ifKnown(
        othersOf(context, 'agent-job'),
        `determine the version of the existing CRD ${name}`,
        ({scope, others}) => {
          const same = others.find(({version}) => version === target.version);
          if (same) return pass(`CRD ${name} was created by release ${withVersion(same)}`);
          if (scope === 'namespace')
            return skip(
              `Cannot determine the version of the existing CRD ${name}: ${onlyOfNamespace(context)}`,
              applyDefinitions(context),
            );
          const from = others.length === 0 ? 'an earlier install' : releasesText(others);
          return warn(
            `CRD ${name} from ${from} already exists. Helm does not update it, and ${target.version} may require a newer one`,
            applyDefinitions(context),
          );
        },
      );
    });
  },
});

const leftDefinitions = check('Release', 'leftover-crds', 'CRDs of earlier chart versions', {
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
  if (unused.length > 0)
    return warn(
      `${few(unused)} ${unused.length === 1 ? 'remains' : 'remain'} from an earlier version, and no release, older revision or custom resource uses ${unused.length === 1 ? 'it' : 'them'}`,
      `Delete ${unused.length === 1 ? 'it' : 'them'}: ${kubectlCommand(context.name.kubeTarget, 'delete', 'crd', ...unused)}`,
    );
  const unknown = found.filter(({users}) => users === undefined).map(({name}) => name);
  if (unknown.length > 0) return skipUses(unknown, context);
  const users = [
    ...new Set(found.flatMap((each) => (each.users ?? []).map((user) => userText(user)))),
  ];
  return pass(`${few(names)}: used by ${few(users, 3)}`);
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
  return missing === undefined
    ? skip(`Cannot ${task}: ${onlyOfNamespace(context)}`)
    : skipUnknown(missing, task);
}

const OLDEST_AGENT = '0.45.0';

const agentVersion = check('Release', 'agent-version', 'Agent version', {
  ref: 'agent-local, README, "Prerequisites": Scalr Agent 0.45.0 or newer',
  run: ({get}) => {
    const image = get(agentImage);
    // Without a tag it is the one of the chart.
    if (image === undefined || !/:[^/]+$|@/.test(image)) return undefined;
    const version = /:v?(\d+\.\d+\.\d+)(?![^@])/.exec(image)?.[1];
    if (version === undefined)
      return skip(`Cannot read the agent version of ${image}: its tag is not a version`);
    return isBelow(version, OLDEST_AGENT)
      ? warn(
          `${image} is older than ${OLDEST_AGENT}, the oldest agent that the charts support`,
          'Use --agent-image with a newer tag, or remove it',
        )
      : pass(`Agent ${version}`);
  },
});

/** Releases with unknown values are those of run agents, as most are. */
const isVcsRelease = ({chart, version, values}: ScalrRelease): boolean =>
  readValues(knownValue(values) ?? {}, {chart, version}).settings.get(purpose.id) === 'vcs';

const vcsSeparate = check('Release', 'vcs-separate', 'Separate clusters for VCS and run agents', {
  ref: 'https://docs.scalr.io/docs/agent-pools',
  run: (context) => {
    const isForVcs = context.get(purpose) === 'vcs';
    // Most clusters have no VCS agents, so nothing is said about them without a reason.
    if (
      !isForVcs &&
      !knownValue(context.facts.releases)?.releases.some(
        (each) => !isThisRelease(each, context) && isVcsRelease(each),
      )
    )
      return undefined;
    return ifKnown(context.facts.releases, 'list other agent releases', ({scope, releases}) => {
      const others = releases
        .filter((each) => !isThisRelease(each, context) && isVcsRelease(each) !== isForVcs)
        .map(({name, namespace, chart}) => `${namespace}/${name} (${chart})`);
      if (others.length > 0)
        return warn(
          `VCS agents must not share infrastructure with run agents. Releases of ${isForVcs ? 'run' : 'VCS'} agents in this cluster: ${few(others)}`,
          'Install VCS agents in another cluster, or on dedicated nodes: --node-selector KEY=VALUE',
        );
      return scope === 'namespace'
        ? skip('Cannot list agent releases of other namespaces with your user')
        : pass(`No release of ${isForVcs ? 'run' : 'VCS'} agents in this cluster`);
    });
  },
});

export const releaseChecks: readonly Check[] = [
  releaseName,
  objectOwners,
  nodeData,
  definition,
  leftDefinitions,
  agentVersion,
  vcsSeparate,
];
