import {getAt, type Values} from '../../charts/tree.ts';
import {knownValue} from '../../cluster/facts/fact.ts';
import {hostPaths, podSpecs} from '../../cluster/pod-specs.ts';
import {type Check, pass, warn} from '../check.ts';
import {ifKnown} from './outcomes.ts';

/** What a pod asks for that the SCC of everybody, restricted-v2, refuses. */
function wishes(spec: Values): string[] {
  const containers = (['containers', 'initContainers'] as const).flatMap((key) => (Array.isArray(spec[key]) ? spec[key] : []));
  const users = [spec, ...containers].flatMap((each) =>
    ['runAsUser', 'fsGroup'].flatMap((key) => {
      const user = getAt(each, ['securityContext', key]);
      return user === undefined || user === null ? [] : [`${key} ${user}`];
    }),
  );
  return [...users, ...hostPaths(spec).map((path) => `the directory ${path} of the node`)];
}

export const openshiftScc: Check = {
  id: 'openshift-scc',
  group: 'Cluster',
  title: 'pods ask for nothing that OpenShift keeps from them by default',
  ref: 'https://docs.openshift.com/container-platform/4.18/authentication/managing-security-context-constraints.html',
  test: ({facts, manifest, name}) => {
    if (knownValue(facts.platform.distribution) !== 'openshift') return undefined;
    return ifKnown(manifest, 'What the chart makes of the values is', (objects) => {
      const specs = objects.flatMap(podSpecs);
      const all = [...new Set(specs.flatMap(wishes))];
      if (all.length === 0) return pass('no pod fixes its user or mounts a directory of the node');
      const accounts = [...new Set(specs.map((spec) => `-z ${spec['serviceAccountName'] ?? 'default'}`))];
      const scc = all.every((each) => / [1-9]\d*$/.test(each)) ? 'nonroot-v2' : 'privileged';
      return warn(
        `Pods ask for ${all.join(', ')}, which the SCC restricted-v2 refuses; whether their service account may use another one is not looked at`,
        `Grant one; upstream documents none, so test it: oc adm policy add-scc-to-user ${scc} ${accounts.join(' ')} -n ${name.place.namespace}`,
      );
    });
  },
};
