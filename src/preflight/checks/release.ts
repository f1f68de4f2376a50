import {posix} from 'node:path';
import {uniqueName} from '../../charts/clouds.ts';
import {within} from '../../charts/releases.ts';
import {scopeOf} from '../../charts/support.ts';
import {at, getAt, mergeValues, type Values} from '../../charts/tree.ts';
import {follow, isKnown, known, knownValue} from '../../cluster/facts/fact.ts';
import {type ScalrRelease, scalrChart} from '../../cluster/facts/releases.ts';
import {DEFINITIONS} from '../../cluster/inventory.ts';
import {commandLine} from '../../command-line.ts';
import {showDefinitions} from '../../helm/helm.ts';
import {chartSource} from '../../settings/release.ts';
import {type Check, fail, few, ifKnown, pass, skip, warn} from '../check.ts';
import type {PreflightContext} from '../preflight-context.ts';
import {isClusterWide, objectNames, scopedName} from './object-names.ts';

const RELEASES = 'Helm releases are';

const isOwn = (release: {name: string; namespace: string}, {name}: PreflightContext): boolean =>
  release.name === name.release && release.namespace === name.place.namespace;

const withVersion = ({name, namespace, version}: ScalrRelease): string => `${namespace}/${name} (${version})`;

const asText = ({name, namespace, chart, version}: ScalrRelease): string => `${namespace}/${name} (${chart} ${version})`;

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
      const {namespace} = name.place;
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
          `Uninstall it first: scalr-agent uninstall --release ${found.name} --namespace ${namespace}; or choose another name with --release`,
        );
      return pass(`${found.chart} in ${namespace}, ${found.status}`);
    }),
};

/** What this release creates: as rendered, else as far as it is known of the chart. */
const wantedNames = ({manifest, name: {release, place}, target, values}: PreflightContext): string[] =>
  isKnown(manifest)
    ? manifest.value.map(({kind, metadata}) => `${kind} ${metadata.name}`)
    : objectNames({name: release, namespace: place.namespace, ...target, values});

const objectNamesFree: Check = {
  id: 'object-names',
  group: 'Release',
  title: 'no other release has objects of the same name',
  ref: 'templates of each chart; Helm never takes over an object of another release',
  run: (context) =>
    ifKnown(context.facts.releases, RELEASES, ({scope, releases}) => {
      const wanted = wantedNames(context);
      const others = releases.filter((each) => !isOwn(each, context));
      for (const other of others) {
        const names = objectNames({...other, values: knownValue(other.values) ?? {}});
        const theirs = names.map((object) => scopedName(object, other.namespace));
        const both = wanted.filter((object) => theirs.includes(scopedName(object, context.name.place.namespace)));
        if (both.length === 0) continue;
        return fail(
          `Release ${asText(other)} has ${few(both)} already, and Helm takes over no object of another release`,
          collisionRemedy(both),
        );
      }
      const shared = wanted.filter((object) => mayCollide(object, context));
      if (scope === 'namespace' && shared.length > 0)
        return skip(`${few(shared)} can be in the way of another release, and ${onlyOfNamespace(context)}`);
      return pass(others.length === 0 ? 'there is no other release of Scalr agents' : `no collision with ${few(others.map(asText))}`);
    }),
};

function collisionRemedy(objects: readonly string[]): string {
  if (objects.some((each) => each.startsWith('StorageClass ')))
    return 'One release of a cluster can have EFS: use --cache hostpath, or another chart with a claim';
  return objects.some(isClusterWide)
    ? 'Choose another name with --release, and another namespace with --namespace'
    : 'Install into another namespace with --namespace';
}

/** Releases share definitions on purpose, and since 0.5.68 agent-job puts the namespace into cluster-wide names. */
const mayCollide = (object: string, {target, name}: PreflightContext): boolean =>
  isClusterWide(object) &&
  !object.startsWith('CustomResourceDefinition ') &&
  !(within(target.version, '>=0.5.68') && object.includes(` ${name.place.namespace}-`));

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

function applyDefinitions({target, get}: PreflightContext): string {
  const source = get(chartSource);
  const show = commandLine(showDefinitions({chart: target.chart, version: target.version, ...(source === undefined ? {} : {source})}));
  return `${show} | kubectl apply --server-side --force-conflicts --filename -`;
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
        const from = few(others.map(withVersion)) || 'an earlier install';
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
        if (left.length === 0) return pass(`${few(others)}: needed by ${few(users.map(withVersion))}`);
        if (scope === 'namespace')
          return skip(`There is ${few(left)} of other versions; who needs it does not show, for ${onlyOfNamespace(context)}`);
        return warn(
          `${few(left)} ${left.length === 1 ? 'is' : 'are'} left of an earlier version, and no Helm release needs ${left.length === 1 ? 'it' : 'them'}`,
          `Remove what nothing else uses: kubectl delete crd ${left.join(' ')}`,
        );
      });
    });
  },
};

/** Other releases, and what earlier ones left behind. */
export const releaseChecks: readonly Check[] = [releaseName, objectNamesFree, nodeData, definition, leftDefinitions];
