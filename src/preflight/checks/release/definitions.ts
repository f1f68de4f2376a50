import {within} from '../../../charts/releases.ts';
import {knownValue} from '../../../cluster/facts/fact.ts';
import {DEFINITIONS} from '../../../cluster/inventory-definitions.ts';
import {showDefinitions} from '../../../helm/helm.ts';
import {commandLine} from '../../../ports/processes.ts';
import {chartSource} from '../../../settings/release.ts';
import {type Check, fail, pass, skip, warn} from '../../check.ts';
import type {Situation} from '../../situation.ts';
import {few, ifKnown} from '../outcomes.ts';
import {isOwn, onlyOfNamespace, othersOf} from './names.ts';

/** The generation that a version of agent-job works with. */
const definitionOf = (version: string): string =>
  DEFINITIONS[within(version, '<=0.5.63') ? 0 : within(version, '<=0.5.67') ? 1 : 2] as string;

function howToApply({target, get}: Situation): string {
  const source = get(chartSource);
  const show = commandLine(showDefinitions({chart: target.chart, version: target.version, ...(source === undefined ? {} : {source})}));
  return `${show} | kubectl apply --server-side --force-conflicts --filename -`;
}

export const definition: Check = {
  id: 'definition',
  group: 'Release',
  title: 'the custom resource definition is the one of the chart, or Helm makes it',
  ref: 'https://helm.sh/docs/chart_best_practices/custom_resource_definitions/',
  test: (situation) => {
    const {target, facts} = situation;
    if (target.chart !== 'agent-job') return undefined;
    const name = definitionOf(target.version);
    return ifKnown(facts.definitions, 'The definitions of the cluster are', (definitions) => {
      const own = knownValue(facts.releases)?.releases.find((each) => isOwn(each, situation));
      const isThere = definitions.includes(name);
      if (own?.chart === 'agent-job' && own.version === target.version) {
        if (isThere) return pass(`${name} is there`);
        return fail(`Release ${own.name} needs ${name}, which is gone, and Helm makes it with a new release only`, howToApply(situation));
      }
      if (own !== undefined) return pass(`${name} is applied before release ${own.name} is changed`);
      if (!isThere) return pass(`Helm makes ${name} with the release`);
      return ifKnown(othersOf(situation, 'agent-job'), `${name} is there already; of which version is`, ({scope, others}) => {
        const same = others.find(({version}) => version === target.version);
        if (same) return pass(`${name} came with release ${same.namespace}/${same.name} (${same.version})`);
        if (scope === 'namespace')
          return skip(`${name} is there already; of which version does not show, for ${onlyOfNamespace(situation)}`, howToApply(situation));
        const from =
          others.length === 0 ? 'an earlier install' : few(others.map((each) => `${each.namespace}/${each.name} (${each.version})`));
        return warn(
          `${name} is there already, from ${from}; Helm leaves it as it is, and ${target.version} may need a newer one`,
          `Apply that of ${target.version}: ${howToApply(situation)}`,
        );
      });
    });
  },
};

export const leftDefinitions: Check = {
  id: 'left-definitions',
  group: 'Release',
  title: 'no definitions of former versions are left behind',
  ref: 'agent-job 0.5.64 and 0.5.68 renamed theirs; Helm never removes one',
  test: (situation) => {
    const {target, facts} = situation;
    if (target.chart !== 'agent-job') return undefined;
    return ifKnown(facts.definitions, 'The definitions of the cluster are', (definitions) => {
      const others = definitions.filter((name) => name !== definitionOf(target.version));
      if (others.length === 0) return pass('there is none');
      return ifKnown(facts.releases, `There is ${few(others)} of other versions; who needs it is`, ({scope, releases}) => {
        const users = releases.filter(({chart, version}) => chart === 'agent-job' && others.includes(definitionOf(version)));
        const left = others.filter((name) => !users.some(({version}) => definitionOf(version) === name));
        if (left.length === 0)
          return pass(`${few(others)}: needed by ${few(users.map((each) => `${each.namespace}/${each.name} (${each.version})`))}`);
        if (scope === 'namespace')
          return skip(`There is ${few(left)} of other versions; who needs it does not show, for ${onlyOfNamespace(situation)}`);
        return warn(
          `${few(left)} ${left.length === 1 ? 'is' : 'are'} left of an earlier version, and no Helm release needs ${left.length === 1 ? 'it' : 'them'}`,
          `Remove what nothing else uses: kubectl delete crd ${left.join(' ')}`,
        );
      });
    });
  },
};
