/** What a policy of a cluster can demand, and the settings that comply. */
const DEMANDS: readonly {isIn: RegExp; step: string}[] = [
  {
    isIn: /\bimages?\b|registr(?:y|ies)\b/i,
    step: 'Use images from a registry that the policy allows: --image-registry',
  },
  {
    isIn: /security ?context|privileged?\b|privilege escalation|\bnon-?root\b|capabilit|seccomp|read-?only ?root/i,
    step: 'Set the security context that the policy requires with --set; its keys: scalr-agent schema',
  },
  {
    isIn: /\b(?:resources?\.)?(?:limits?|requests)\b(?! denied)/i,
    step: 'Set requests and limits with --run-cpu-request, --run-cpu-limit, --run-memory-request and --run-memory-limit',
  },
];

const OWNER =
  'An admission policy rejects the request: correct what the message lists, or ask the policy owner for an exception';

/** The API server itself rejects pods without their service account. */
const NO_ACCOUNT = /serviceaccount "[^"]*" not found/;

/** Next steps for an object that a policy rejects. */
export function policySteps(message: string, kind: string | undefined): string[] {
  if (NO_ACCOUNT.test(message))
    return ['Create the service account in the namespace, or correct --service-account-name'];
  if (kind === 'Secret')
    return ['Create the Secret yourself, and select it with --token-secret', OWNER];
  const demand = message.replace(/webhook "[^"]*"/, '');
  return [...DEMANDS.flatMap(({isIn, step}) => (isIn.test(demand) ? [step] : [])), OWNER];
}
