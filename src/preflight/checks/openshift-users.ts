import {getAt, type Values} from '../../charts/tree.ts';
import {knownValue} from '../../cluster/facts/fact.ts';
import {podSpecs} from '../../cluster/pod-specs.ts';
import {type Check, pass, warn} from '../check.ts';
import {ifKnown} from './outcomes.ts';

/** Users that a pod fixes, for itself, its files or one of its containers. */
function fixedUsers(spec: Values): string[] {
  const containers = (['containers', 'initContainers'] as const).flatMap((key) => (Array.isArray(spec[key]) ? spec[key] : []));
  return [spec, ...containers].flatMap((each) =>
    ['runAsUser', 'fsGroup'].flatMap((key) => {
      const user = getAt(each, ['securityContext', key]);
      return user === undefined || user === null ? [] : [`${key} ${user}`];
    }),
  );
}

export const openshiftUsers: Check = {
  id: 'openshift-users',
  group: 'Cluster',
  title: 'pods leave it to OpenShift which user they run as',
  ref: 'https://docs.openshift.com/container-platform/4.18/authentication/managing-security-context-constraints.html',
  test: ({facts, manifest, name}) => {
    if (knownValue(facts.platform.distribution) !== 'openshift') return undefined;
    return ifKnown(manifest, 'What the chart makes of the values is', (objects) => {
      const specs = objects.flatMap(podSpecs);
      const users = [...new Set(specs.flatMap(fixedUsers))];
      if (users.length === 0) return pass('no pod fixes its user');
      const accounts = [...new Set(specs.map((spec) => `-z ${spec['serviceAccountName'] ?? 'default'}`))];
      const isRoot = users.includes('runAsUser 0');
      const scc = isRoot ? 'privileged' : 'nonroot-v2';
      return warn(
        `Pods fix their user (${users.join(', ')}), which the SCC restricted-v2 refuses; whether their service account may use another one is not looked at`,
        `Grant one, which upstream documents for no version and so has to be tested: oc adm policy add-scc-to-user ${scc} ${accounts.join(' ')} -n ${name.place.namespace}`,
      );
    });
  },
};
