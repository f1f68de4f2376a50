import {endingText, howToEnd, isEnding} from '../../../cluster/kubernetes/ending-objects.ts';
import {type ClusterTarget, kubectlCommand} from '../../../ground/command-line.ts';
import {isKnown} from '../../../ground/fact.ts';
import {changing, remediesOf} from '../../../ground/finding.ts';
import {serviceAccountAnnotation, serviceAccountName} from '../../../settings/identity.ts';
import {namespace} from '../../../settings/release.ts';
import {admission, injectedSidecars} from './admission.ts';
import {type Check, check} from './check.ts';
import {cannot, fail, notChecked, pass, worstOf} from './check-result.ts';
import {quota} from './quota.ts';

const exists = check('Namespace', 'namespace', 'Namespace', {
  ref: 'https://kubernetes.io/docs/concepts/overview/working-with-objects/namespaces/',
  run({readings: {namespaceObject}, name: {kubeTarget}}) {
    if (!isKnown(namespaceObject)) return notChecked(namespaceObject.because);
    const found = namespaceObject.value;
    if (found === undefined) return pass(`${kubeTarget.namespace} will be created`);
    if (!isEnding(found)) return pass(`${kubeTarget.namespace} exists`);
    const end = howToEnd({kind: 'Namespace', ...found}, kubeTarget);
    return {
      verdict: 'error',
      message: `${kubeTarget.namespace} is being deleted, so no objects can be created in it: ${endingText(found)}`,
      remedies:
        end === undefined
          ? [
              changing`Use another one with ${namespace}, or wait until it is deleted: ${waitCommand(kubeTarget)}`,
            ]
          : [changing`Use another one with ${namespace}`, ...remediesOf(end)],
    };
  },
});

const waitCommand = (kubeTarget: ClusterTarget): string =>
  kubectlCommand(
    kubeTarget,
    'wait',
    '--for=delete',
    `namespace/${kubeTarget.namespace}`,
    '--timeout=10m',
  );

const accounts = check('Namespace', 'service-accounts', 'Service accounts of the pods', {
  ref: 'https://kubernetes.io/docs/concepts/security/service-accounts/',
  run: ({accounts: found, name: {kubeTarget}}) =>
    worstOf(
      [...found].map(([name, fact]) => {
        if (!isKnown(fact)) return cannot(`read service account ${name}`, fact.because);
        if (fact.value !== undefined) return pass(`Service account ${name} exists`);
        return fail(
          `Service account ${name} not found in ${kubeTarget.namespace}, so no pod starts`,
          changing`Create it, use another one with ${serviceAccountName}, or set ${serviceAccountAnnotation}, with which the chart creates it`,
        );
      }),
    ),
});

export const namespaceChecks: readonly Check[] = [
  exists,
  accounts,
  admission,
  injectedSidecars,
  quota,
];
