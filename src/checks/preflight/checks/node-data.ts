import {posix} from 'node:path';
import {uniqueName} from '../../../charts/shared/clouds.ts';
import {scopeOf} from '../../../charts/support.ts';
import type {KubernetesObject} from '../../../cluster/kubernetes/objects.ts';
import {helmOwner} from '../../../cluster/kubernetes/owners.ts';
import type {ScalrRelease} from '../../../cluster/platform/cluster-facts.ts';
import {
  DIRECTORY,
  NOTHING_READ,
  objectUsers,
  userText,
} from '../../../cluster/release/object-users.ts';
import {isKnown, knownValue} from '../../../ground/fact.ts';
import {changing} from '../../../ground/finding.ts';
import {few} from '../../../ground/text.ts';
import {at, getAt, mergeValues, type Tree, type Values} from '../../../ground/tree.ts';
import {withValue} from '../../../settings/spelling.ts';
import {dataHome} from '../../../settings/storage.ts';
import type {PreflightContext} from '../facts/context.ts';
import {check} from './check.ts';
import {cannot, fail, ifKnown, notChecked, pass, unreadable} from './check-result.ts';
import {onlyOfNamespace, otherReleases, RELEASES} from './other-releases.ts';

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

export const nodeData = check('Release', 'node-data', 'Node data directory', {
  ref: 'agent-k8s 0.6.5, README',
  run: (context) => {
    const {target, values} = context;
    const own = directoryOf(values);
    if (target.chart !== 'agent-k8s' || own === undefined) return undefined;
    return ifKnown(otherReleases(context, 'agent-k8s'), RELEASES, ({scope, others}) => {
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
          changing`Use another directory: ${withValue(dataHome, freeDirectory(path, context))}`,
        );
      const hidden = others.filter((each) => !isKnown(each.values));
      if (hidden.length > 0)
        return notChecked(`Cannot read the values of ${few(hidden.map(releaseText))}`);
      const {daemonSets} = context.readings;
      if (!isKnown(daemonSets)) return unreadable(daemonSets, 'list DaemonSets');
      if (scope === 'namespace')
        return cannot(
          `check whether agents in other namespaces use ${path}`,
          onlyOfNamespace(context),
        );
      return pass(`${path} is not used by another release`);
    });
  },
});
