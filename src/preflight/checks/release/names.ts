import {within} from '../../../charts/releases.ts';
import {follow, isKnown, known, knownValue} from '../../../cluster/facts/fact.ts';
import {type ScalrRelease, scalrChart} from '../../../cluster/facts/releases.ts';
import {type Check, fail, pass, skip, warn} from '../../check.ts';
import type {Situation} from '../../situation.ts';
import {few, ifKnown} from '../outcomes.ts';
import {isClusterWide, namesIn, objectNames} from './object-names.ts';

const RELEASES = 'Helm releases are';

export const isOwn = (release: {name: string; namespace: string}, {name}: Situation): boolean =>
  release.name === name.release && release.namespace === name.place.namespace;

const asText = ({name, namespace, chart, version}: ScalrRelease): string => `${namespace}/${name} (${chart} ${version})`;

/** What is left of the facts for the rest of the cluster, where only one namespace may be read. */
export const onlyOfNamespace = (situation: Situation): string =>
  `only releases of the namespace ${situation.name.place.namespace} may be read`;

export const releaseName: Check = {
  id: 'release-name',
  group: 'Release',
  title: 'the release is new, or one of this chart that nothing is happening to',
  ref: 'https://helm.sh/docs/helm/helm_upgrade/',
  test: (situation) =>
    ifKnown(situation.readings.releases, RELEASES, ({releases}) => {
      const {target, name} = situation;
      const {namespace} = name.place;
      const found = releases.find((each) => isOwn(each, situation));
      if (found === undefined) return pass(`there is no release ${name.release} in ${namespace} yet`);
      const ours = scalrChart(found.chart);
      const said = `Release ${found.name} in ${namespace} is ${found.chart}`;
      if (ours === undefined)
        return fail(
          `${said}, which has nothing to do with Scalr agents: an upgrade would replace it`,
          'Choose another name with --release',
        );
      if (/^(pending-|uninstalling)/.test(found.status))
        return warn(
          `${said} and ${found.status}: helm is at work on it, or broke off`,
          'Wait for whoever runs that helm; if nobody does, scalr-agent install marks it as failed and goes on',
        );
      if (ours.chart !== target.chart)
        return warn(
          `${said}: changing it to ${target.chart} replaces everything in it, and runs in flight are lost`,
          `Uninstall it first: scalr-agent uninstall --release ${found.name} --namespace ${namespace}; or choose another name with --release`,
        );
      return pass(`${found.chart} in ${namespace}, ${found.status}`);
    }),
};

/** What this release makes: as it was rendered, else as far as it is known of the chart. */
const wantedNames = ({manifest, name, target, values}: Situation): Map<string, string> => {
  const {namespace} = name.place;
  return isKnown(manifest) ? namesIn(manifest.value, namespace) : objectNames({name: name.release, namespace, ...target, values});
};

export const objectNamesFree: Check = {
  id: 'object-names',
  group: 'Release',
  title: 'no other release has objects of the same name',
  ref: 'templates of each chart; Helm never takes over an object of another release',
  test: (situation) =>
    ifKnown(situation.facts.releases, RELEASES, ({scope, releases}) => {
      const wanted = wantedNames(situation);
      for (const other of releases.filter((each) => !isOwn(each, situation))) {
        const theirs = objectNames({...other, values: knownValue(other.values) ?? {}});
        const both = [...wanted].filter(([key]) => theirs.has(key)).map(([, object]) => object);
        if (both.length === 0) continue;
        return fail(
          `Release ${asText(other)} has ${few(both)} already, and Helm takes over no object of another release`,
          howToAvoid(both),
        );
      }
      const shared = [...wanted.values()].filter((object) => isSharedByCluster(object, situation));
      if (scope === 'namespace' && shared.length > 0)
        return skip(`${few(shared)} can be in the way of another release, and ${onlyOfNamespace(situation)}`);
      const others = releases.filter((each) => !isOwn(each, situation)).map(asText);
      return pass(others.length === 0 ? 'there is no other release of Scalr agents' : `no collision with ${few(others)}`);
    }),
};

function howToAvoid(objects: readonly string[]): string {
  if (objects.some((each) => each.startsWith('StorageClass ')))
    return 'One release of a cluster can have EFS: use --cache hostpath, or another chart with a claim';
  return objects.some(isClusterWide)
    ? 'Choose another name with --release, and another namespace with --namespace'
    : 'Install into another namespace with --namespace';
}

/** Definitions are one for the whole cluster on purpose, and since 0.5.68 agent-job puts the namespace into its names. */
const isSharedByCluster = (object: string, {target, name}: Situation): boolean =>
  isClusterWide(object) &&
  !object.startsWith('CustomResourceDefinition ') &&
  !(within(target.version, '>=0.5.68') && object.includes(` ${name.place.namespace}-`));

/** Releases of one chart beside this one. */
export const othersOf = (situation: Situation, chart: ScalrRelease['chart']) =>
  follow(situation.facts.releases, ({scope, releases}, source) =>
    known({scope, others: releases.filter((each) => each.chart === chart && !isOwn(each, situation))}, source),
  );
