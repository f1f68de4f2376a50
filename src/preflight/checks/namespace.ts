import {isKnown} from '../../cluster/facts/fact.ts';
import {kubectlCommand} from '../../command-line.ts';
import {type Check, fail, pass, skip} from '../check.ts';
import {limitRange} from './limit-range.ts';
import {podSecurity} from './pod-security.ts';
import {quota} from './quota.ts';

const exists: Check = {
  id: 'namespace',
  group: 'Namespace',
  title: 'the namespace is there or can be made',
  ref: 'https://kubernetes.io/docs/concepts/overview/working-with-objects/namespaces/',
  run({readings: {namespaceObject}, name: {place}}) {
    if (!isKnown(namespaceObject)) return skip(namespaceObject.because);
    const found = namespaceObject.value;
    if (found === undefined) return pass(`${place.namespace} will be made`);
    return found.metadata.deletionTimestamp === undefined
      ? pass(`${place.namespace} is there`)
      : fail(
          `${place.namespace} is being deleted: nothing new can be made in it`,
          `Use another one with --namespace, or wait until it has gone: ${kubectlCommand(place, 'wait', '--for=delete', `namespace/${place.namespace}`, '--timeout=10m')}`,
        );
  },
};

/** Whether the namespace takes what the chart makes. */
export const namespaceChecks: readonly Check[] = [exists, podSecurity, limitRange, quota];
