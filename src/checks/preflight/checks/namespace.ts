import {endingText, howToEnd, isEnding} from '../../../cluster/kubernetes/ending-objects.ts';
import {kubectlCommand} from '../../../ground/command-line.ts';
import {isKnown} from '../../../ground/fact.ts';
import {changing, remediesOf} from '../../../ground/finding.ts';
import {namespace} from '../../../settings/release.ts';
import {admission, injectedSidecars} from './admission.ts';
import {type Check, check} from './check.ts';
import {notChecked, pass} from './check-result.ts';
import {quota} from './quota.ts';

const exists = check('Namespace', 'namespace', 'Namespace', {
  ref: 'https://kubernetes.io/docs/concepts/overview/working-with-objects/namespaces/',
  run({readings: {namespaceObject}, name: {kubeTarget}}) {
    if (!isKnown(namespaceObject)) return notChecked(namespaceObject.because);
    const found = namespaceObject.value;
    if (found === undefined) return pass(`${kubeTarget.namespace} will be created`);
    if (!isEnding(found)) return pass(`${kubeTarget.namespace} exists`);
    const wait = kubectlCommand(
      kubeTarget,
      'wait',
      '--for=delete',
      `namespace/${kubeTarget.namespace}`,
      '--timeout=10m',
    );
    return {
      verdict: 'error',
      message: `${kubeTarget.namespace} is being deleted, so no objects can be created in it: ${endingText(found)}`,
      remedies: [
        changing`Use another one with ${namespace}, or wait until it is deleted: ${wait}`,
        ...remediesOf(howToEnd({kind: 'Namespace', ...found}, kubeTarget)),
      ],
    };
  },
});

export const namespaceChecks: readonly Check[] = [exists, admission, injectedSidecars, quota];
