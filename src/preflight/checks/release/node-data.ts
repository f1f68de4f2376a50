import {posix} from 'node:path';
import {uniqueName} from '../../../charts/clouds.ts';
import {scopeOf} from '../../../charts/support.ts';
import {at, getAt, mergeValues, type Values} from '../../../charts/tree.ts';
import {isKnown, knownValue} from '../../../cluster/facts/fact.ts';
import type {ScalrRelease} from '../../../cluster/facts/releases.ts';
import {type Check, fail, pass, skip} from '../../check.ts';
import {few, ifKnown} from '../outcomes.ts';
import {onlyOfNamespace, othersOf} from './names.ts';

const directoryOf = (values: Values): string | undefined => {
  const path = getAt(values, at('agent.data_home'));
  const isEfs = Boolean(getAt(values, at('efsVolumeHandle')));
  return typeof path === 'string' && !isEfs ? posix.normalize(`${path}/`) : undefined;
};

const selectorOf = (values: Values): Values => (getAt(values, at('workerNodeSelector')) ?? {}) as Values;

/** No node has two values of one label. */
const areOnOtherNodes = (one: Values, other: Values): boolean =>
  Object.entries(one).some(([key, value]) => other[key] !== undefined && other[key] !== value);

const seenBy = ({chart, version, values}: ScalrRelease): Values =>
  mergeValues(scopeOf({chart, version}, () => undefined).defaults, knownValue(values) ?? {});

const ownDirectory = (path: string, unique: string): string =>
  posix.join(posix.dirname(path), posix.basename(path) === unique ? `${unique}-2` : unique);

export const nodeData: Check = {
  id: 'node-data',
  group: 'Release',
  title: 'no other release keeps its data in the same directory of the nodes',
  ref: 'agent-k8s 0.6.5, README',
  test: (situation) => {
    const {target, values} = situation;
    const own = directoryOf(values);
    if (target.chart !== 'agent-k8s' || own === undefined) return undefined;
    return ifKnown(othersOf(situation, 'agent-k8s'), 'Helm releases are', ({scope, others}) => {
      const shared = others.filter((each) => {
        const theirs = directoryOf(seenBy(each));
        const isNested = theirs !== undefined && (theirs.startsWith(own) || own.startsWith(theirs));
        return isKnown(each.values) && isNested && !areOnOtherNodes(selectorOf(values), selectorOf(seenBy(each)));
      });
      const path = own.replace(/\/$/, '');
      if (shared.length > 0)
        return fail(
          `${path} is the directory of ${few(shared.map(({namespace, name}) => `release ${namespace}/${name}`))} too`,
          `Give it one of its own: --data-home ${ownDirectory(path, uniqueName(situation.get))}`,
        );
      const hidden = others.filter((each) => !isKnown(each.values));
      if (hidden.length > 0)
        return skip(`The values of ${few(hidden.map(({namespace, name}) => `release ${namespace}/${name}`))} are unknown`);
      if (scope === 'namespace') return skip(`Agents of other namespaces may use ${path} too, and ${onlyOfNamespace(situation)}`);
      return pass(`${path} is used by no other release`);
    });
  },
};
