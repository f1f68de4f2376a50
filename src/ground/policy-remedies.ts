import {changing, type Remedy} from './finding.ts';

/** What a policy of a cluster can demand, and the settings that comply. */
const DEMANDS: readonly {isIn: RegExp; remedy: Remedy}[] = [
  {
    isIn: /\bimages?\b|registr(?:y|ies)\b/i,
    remedy: changing`Use images from a registry that the policy allows: ${{id: 'image-registry'}}`,
  },
  {
    isIn: /security ?context|privileged?\b|privilege escalation|\bnon-?root\b|capabilit|seccomp|read-?only ?root/i,
    remedy: changing`Set the security context that the policy requires with ${{id: 'set'}}; its keys: scalr-agent schema`,
  },
  {
    isIn: /\b(?:resources?\.)?(?:limits?|requests)\b(?! denied)/i,
    remedy: changing`Set requests and limits with ${{id: 'run-cpu-request'}}, ${{id: 'run-cpu-limit'}}, ${{id: 'run-memory-request'}} and ${{id: 'run-memory-limit'}}`,
  },
];

const OWNER: Remedy = {
  text: 'An admission policy rejects the request: correct what the message lists, or ask the policy owner for an exception',
};

const OWN_SECRET = changing`Create the Secret yourself, and select it with ${{id: 'token-secret'}}`;

/** The API server itself rejects pods without their service account. */
const NO_ACCOUNT = /serviceaccount "[^"]*" not found/;
const MISSING_ACCOUNT = changing`Create the service account in the namespace, or correct ${{id: 'service-account-name'}}`;

/** What to do about an object that a policy rejects. */
export function policyRemedies(message: string, kind: string | undefined): Remedy[] {
  if (NO_ACCOUNT.test(message)) return [MISSING_ACCOUNT];
  if (kind === 'Secret') return [OWN_SECRET, OWNER];
  const demand = message.replace(/webhook "[^"]*"/, '');
  const complying = DEMANDS.filter(({isIn}) => isIn.test(demand));
  return [...complying.map(({remedy}) => remedy), OWNER];
}
