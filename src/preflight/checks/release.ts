import {posix} from 'node:path';
import {uniqueName} from '../../charts/clouds.ts';
import {within} from '../../charts/releases.ts';
import {scopeOf} from '../../charts/support.ts';
import {at, getAt, mergeValues, type Tree, type Values} from '../../charts/tree.ts';
import {follow, isKnown, known, knownValue} from '../../cluster/facts/fact.ts';
import {type ScalrRelease, scalrChart} from '../../cluster/facts/releases.ts';
import {DEFINITIONS} from '../../cluster/inventory.ts';
import type {KubernetesObject} from '../../cluster/objects.ts';
import {commandLine, kubectlCommand, ownCommand} from '../../command-line.ts';
import {showDefinitions} from '../../helm/helm.ts';
import {chartSource} from '../../settings/release.ts';
import {type Check, type CheckResult, fail, few, ifKnown, pass, skip, warn} from '../check.ts';
import {isContained, objectKey} from '../object-owner.ts';
import type {PreflightContext} from '../preflight-context.ts';
import {definitionOwner, isOwn, objectOwners, RELEASES} from './object-owners.ts';

const withVersion = ({name, namespace, version}: ScalrRelease): string => `${namespace}/${name} (${version})`;

/** One release by its name, more by their number. */
const releasesText = (releases: readonly ScalrRelease[]): string =>
  releases.length === 1 ? releases.map(withVersion).join() : `${releases.length} other releases`;

/** Why releases of other namespaces are unknown. */
const onlyOfNamespace = (context: PreflightContext): string => `only releases of the namespace ${context.name.place.namespace} may be read`;

const releaseName: Check = {
  id: 'release-name',
  group: 'Release',
  title: 'the release is new, or one of this chart that nothing is happening to',
  ref: 'https://helm.sh/docs/helm/helm_upgrade/',
  run: (context) =>
    ifKnown(context.readings.releases, RELEASES, ({releases}) => {
      const {target, name} = context;
      const {place} = name;
      const {namespace} = place;
      const found = releases.find((each) => isOwn(each, context));
      if (found === undefined) return pass(`there is no release ${name.release} in ${namespace} yet`);
      const ours = scalrChart(found.chart);
      const text = `Release ${found.name} in ${namespace} is ${found.chart}`;
      if (ours === undefined)
        return fail(
          `${text}, which has nothing to do with Scalr agents: an upgrade would replace it`,
          'Choose another name with --release',
        );
      if (/^(pending-|uninstalling)/.test(found.status))
        return warn(
          `${text} and ${found.status}: helm is at work on it, or broke off`,
          'Wait for whoever runs that helm; if nobody does, scalr-agent install marks it as failed and goes on',
        );
      if (ours.chart !== target.chart)
        return warn(
          `${text}: changing it to ${target.chart} replaces everything in it, and runs in flight are lost`,
          `Uninstall it first: ${ownCommand('uninstall', {release: found.name, place: {...place, namespace}})}; or choose another name with --release`,
        );
      return pass(`${found.chart} in ${namespace}, ${found.status}`);
    }),
};

/** Other releases of one chart. */
const othersOf = (context: PreflightContext, chart: ScalrRelease['chart']) =>
  follow(context.facts.releases, ({scope, releases}, source) =>
    known({scope, others: releases.filter((each) => each.chart === chart && !isOwn(each, context))}, source),
  );

const directoryOf = (values: Values): string | undefined => {
  const path = getAt(values, at('agent.data_home'));
  const isEfs = Boolean(getAt(values, at('efsVolumeHandle')));
  return typeof path === 'string' && !isEfs ? posix.normalize(`${path}/`) : undefined;
};

const selectorOf = (values: Values): Values => (getAt(values, at('workerNodeSelector')) ?? {}) as Values;

/** A node has one value for each label. */
const areOnOtherNodes = (one: Values, other: Values): boolean =>
  Object.entries(one).some(([key, value]) => other[key] !== undefined && other[key] !== value);

const effectiveValuesOf = ({chart, version, values}: ScalrRelease): Values =>
  mergeValues(scopeOf({chart, version}, () => undefined).defaults, knownValue(values) ?? {});

const releaseText = ({namespace, name}: ScalrRelease): string => `release ${namespace}/${name}`;

const freeDirectory = (path: string, unique: string): string =>
  posix.join(posix.dirname(path), posix.basename(path) === unique ? `${unique}-2` : unique);

const nodeData: Check = {
  id: 'node-data',
  group: 'Release',
  title: 'no other release keeps its data in the same directory of the nodes',
  ref: 'agent-k8s 0.6.5, README',
  run: (context) => {
    const {target, values} = context;
    const own = directoryOf(values);
    if (target.chart !== 'agent-k8s' || own === undefined) return undefined;
    return ifKnown(othersOf(context, 'agent-k8s'), RELEASES, ({scope, others}) => {
      const shared = others.filter((each) => {
        const theirs = directoryOf(effectiveValuesOf(each));
        const isNested = theirs !== undefined && (theirs.startsWith(own) || own.startsWith(theirs));
        return isKnown(each.values) && isNested && !areOnOtherNodes(selectorOf(values), selectorOf(effectiveValuesOf(each)));
      });
      const path = own.replace(/\/$/, '');
      if (shared.length > 0)
        return fail(
          `${path} is the directory of ${few(shared.map(releaseText))} too`,
          `Give it one of its own: --data-home ${freeDirectory(path, uniqueName(context.get))}`,
        );
      const hidden = others.filter((each) => !isKnown(each.values));
      if (hidden.length > 0) return skip(`The values of ${few(hidden.map(releaseText))} are unknown`);
      if (scope === 'namespace') return skip(`Agents of other namespaces may use ${path} too, and ${onlyOfNamespace(context)}`);
      return pass(`${path} is used by no other release`);
    });
  },
};

/** The definition that a version of agent-job works with. */
const definitionOf = (version: string): string =>
  DEFINITIONS[within(version, '<=0.5.63') ? 0 : within(version, '<=0.5.67') ? 1 : 2] as string;

function showDefinitionsOf({target, get}: PreflightContext) {
  const source = get(chartSource);
  return showDefinitions({chart: target.chart, version: target.version, ...(source === undefined ? {} : {source})});
}

const applyDefinitions = (context: PreflightContext): string =>
  `${commandLine(showDefinitionsOf(context))} | ${kubectlCommand(context.name.place, 'apply', '--server-side', '--force-conflicts', '--filename', '-')}`;

interface Definition extends KubernetesObject {
  spec?: object;
}

/** The definition in the cluster against the one of the chart; undefined where one of them is unknown, or Helm or the install may change it. */
function compareDefinition(name: string, context: PreflightContext): CheckResult | undefined {
  const wanted: Definition | undefined = knownValue(context.manifest)?.find(
    (each) => objectKey(each) === `CustomResourceDefinition ${name}`,
  );
  const live = context.live.objects.get(`CustomResourceDefinition ${name}`);
  const found: Definition | undefined = live && knownValue(live);
  if (wanted === undefined || found === undefined) return undefined;
  const owner = definitionOwner(found);
  const of = owner === undefined ? '' : ` of the ${owner}`;
  if (isContained(wanted.spec as Tree, found.spec as Tree)) return pass(`${name}${of} is the one of the chart`);
  if (owner !== undefined)
    return warn(
      `${name} belongs to the ${owner} and differs from the one of ${context.target.chart} ${context.target.version}`,
      `Let the ${owner} bring this one: ${commandLine(showDefinitionsOf(context))}`,
    );
  return undefined;
}

const definition: Check = {
  id: 'definition',
  group: 'Release',
  title: 'the custom resource definition is the one of the chart, or Helm makes it',
  ref: 'https://helm.sh/docs/chart_best_practices/custom_resource_definitions/',
  run: (context) => {
    const {target, facts} = context;
    if (target.chart !== 'agent-job') return undefined;
    const name = definitionOf(target.version);
    return ifKnown(facts.definitions, 'The definitions of the cluster are', (definitions) => {
      const own = knownValue(facts.releases)?.releases.find((each) => isOwn(each, context));
      const isThere = definitions.includes(name);
      const compared = isThere ? compareDefinition(name, context) : undefined;
      if (compared !== undefined) return compared;
      if (own?.chart === 'agent-job' && own.version === target.version) {
        if (isThere) return pass(`${name} is there`);
        return fail(
          `Release ${own.name} needs ${name}, which is gone, and Helm makes it with a new release only`,
          applyDefinitions(context),
        );
      }
      if (own !== undefined) return pass(`${name} is applied before release ${own.name} is changed`);
      if (!isThere) return pass(`Helm makes ${name} with the release`);
      return ifKnown(othersOf(context, 'agent-job'), `${name} is there already; of which version is`, ({scope, others}) => {
        const same = others.find(({version}) => version === target.version);
        if (same) return pass(`${name} came with release ${withVersion(same)}`);
        if (scope === 'namespace')
          return skip(
            `${name} is there already; of which version does not show, for ${onlyOfNamespace(context)}`,
            applyDefinitions(context),
          );
        const from = others.length === 0 ? 'an earlier install' : releasesText(others);
        return warn(
          `${name} is there already, from ${from}; Helm leaves it as it is, and ${target.version} may need a newer one`,
          `Apply that of ${target.version}: ${applyDefinitions(context)}`,
        );
      });
    });
  },
};

const leftDefinitions: Check = {
  id: 'left-definitions',
  group: 'Release',
  title: 'no definitions of former versions are left behind',
  ref: 'agent-job 0.5.64 and 0.5.68 renamed theirs; Helm never removes one',
  run: (context) => {
    const {target, facts} = context;
    if (target.chart !== 'agent-job') return undefined;
    return ifKnown(facts.definitions, 'The definitions of the cluster are', (definitions) => {
      const others = definitions.filter((name) => name !== definitionOf(target.version));
      if (others.length === 0) return pass('there is none');
      return ifKnown(facts.releases, `There is ${few(others)} of other versions; who needs it is`, ({scope, releases}) => {
        const users = releases.filter(({chart, version}) => chart === 'agent-job' && others.includes(definitionOf(version)));
        const left = others.filter((name) => !users.some(({version}) => definitionOf(version) === name));
        if (left.length === 0) return pass(`${few(others)}: needed by ${releasesText(users)}`);
        if (scope === 'namespace')
          return skip(`There is ${few(left)} of other versions; who needs it does not show, for ${onlyOfNamespace(context)}`);
        return warn(
          `${few(left)} ${left.length === 1 ? 'is' : 'are'} left of an earlier version, and no Helm release needs ${left.length === 1 ? 'it' : 'them'}`,
          `Remove what nothing else uses: ${kubectlCommand(context.name.place, 'delete', 'crd', ...left)}`,
        );
      });
    });
  },
};

/** Other releases, and what earlier ones left behind. */
export const releaseChecks: readonly Check[] = [releaseName, objectOwners, nodeData, definition, leftDefinitions];
