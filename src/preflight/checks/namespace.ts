import {kubectlCommand} from '../../ground/command-line.ts';
import {isKnown} from '../../ground/fact.ts';
import {type Check, fail, pass, skip} from '../check.ts';
import {limitRange} from './limit-range.ts';
import {podSecurity} from './pod-security.ts';
import {quota} from './quota.ts';

const exists: Check = {
  id: 'namespace',
  group: 'Namespace',
  title: 'Namespace',
  ref: 'https://kubernetes.io/docs/concepts/overview/working-with-objects/namespaces/',
  run({readings: {namespaceObject}, name: {kubeTarget}}) {
    if (!isKnown(namespaceObject)) return skip(namespaceObject.because);
    const found = namespaceObject.value;
    if (found === undefined) return pass(`${kubeTarget.namespace} will be created`);
    return found.metadata.deletionTimestamp === undefined
      ? pass(`${kubeTarget.namespace} exists`)
      : fail(
          `${kubeTarget.namespace} is being deleted, so no objects can be created in it`,
          `Use another one with --namespace, or wait until it is deleted: ${kubectlCommand(kubeTarget, 'wait', '--for=delete', `namespace/${kubeTarget.namespace}`, '--timeout=10m')}`,
        );
  },
};

/** Whether the namespace accepts the objects of the chart. */
export const namespaceChecks: readonly Check[] = [exists, podSecurity, limitRange, quota];
