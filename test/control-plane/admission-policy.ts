import {randomBytes} from 'node:crypto';
import {onTestFinished} from 'vitest';
import {until} from './api.ts';
import type {Workplace} from './workplace.ts';

interface Rule {
  group: string;
  resource: string;
  operations: readonly string[];
}

export interface Policy {
  rules: readonly Rule[];
  /** CEL that is true for what the policy accepts. */
  expression: string;
  message: string;
}

/** The policy also rejects this, which tells when it is enforced. */
const PROBE = 'policy-probe';

/** A ValidatingAdmissionPolicy for one namespace until the test ends, or until the returned function is called. */
export async function enforce(
  {kubectl, namespace}: Workplace,
  {rules, expression, message}: Policy,
): Promise<() => Promise<void>> {
  const name = `test-${randomBytes(4).toString('hex')}`;
  const apiVersion = 'admissionregistration.k8s.io/v1';
  const probed = {group: '', resource: 'configmaps', operations: ['CREATE']};
  const resourceRules = [...rules, probed].map(({group, resource, operations}) => ({
    apiGroups: [group],
    apiVersions: ['*'],
    operations,
    resources: [resource],
  }));
  const remove = async (): Promise<void> => {
    await kubectl('delete', 'validatingadmissionpolicybinding', name, '--ignore-not-found');
    await kubectl('delete', 'validatingadmissionpolicy', name, '--ignore-not-found');
  };
  onTestFinished(remove);
  await kubectl.apply({
    apiVersion,
    kind: 'ValidatingAdmissionPolicy',
    metadata: {name},
    spec: {
      failurePolicy: 'Fail',
      matchConstraints: {resourceRules},
      validations: [
        {
          expression: `request.resource.resource == 'configmaps' ? object.metadata.name != '${PROBE}' : (${expression})`,
          message,
        },
      ],
    },
  });
  await kubectl.apply({
    apiVersion,
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: {name},
    spec: {
      policyName: name,
      validationActions: ['Deny'],
      matchResources: {
        namespaceSelector: {matchLabels: {'kubernetes.io/metadata.name': namespace}},
      },
    },
  });
  await until('the policy is enforced', async () => {
    const probe = ['create', 'configmap', PROBE, '--dry-run=server'];
    return kubectl(...probe).then(
      () => false,
      (error: unknown) => String(error).includes('denied request'),
    );
  });
  return remove;
}
