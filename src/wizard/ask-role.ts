import {IDENTITIES} from '../charts/shared/clouds.ts';
import {IDENTITY_ANNOTATIONS} from '../charts/shared/setting-rules.ts';
import {serviceAccountAnnotation} from '../settings/identity.ts';
import {workloadIdentity} from '../settings/network.ts';
import type {Asking} from './asking.ts';
import type {Reply} from './reply.ts';
import {asUnasked, type WizardState, withAnswer} from './wizard-state.ts';

/** ID of the question. */
export const ROLE = 'identity-role';

/** What the role of a workload identity is called. */
const ROLES: Readonly<Record<string, {message: string; help: string}>> = {
  irsa: {
    message: 'ARN of the IAM role for runs',
    help: 'The role trusts the OIDC provider of the cluster.',
  },
  azure: {
    message: 'Client ID of the managed identity for runs',
    help: 'The identity has a federated credential for the service account.',
  },
};

/** The annotation with the role of the chosen identity, if it needs one. */
export function roleSettingOf({answers}: WizardState): string | undefined {
  const identity = answers.get(workloadIdentity) ?? '';
  return ROLES[identity] === undefined ? undefined : IDENTITY_ANNOTATIONS[identity];
}

/** The chosen identity, or the one that an annotation of the service account is for. */
export const workloadIdentityOf = ({answers: {get}}: WizardState): string =>
  get(workloadIdentity) ??
  Object.entries(IDENTITY_ANNOTATIONS).find(
    ([, key]) => get(serviceAccountAnnotation)?.[key] !== undefined,
  )?.[0] ??
  'none';

/** The role that runs act as, where the workload identity needs one. */
export async function askRole({state, known, frame, deps}: Asking): Promise<Reply> {
  const {get} = state.answers;
  const key = roleSettingOf(state) as string;
  const {message, help} = ROLES[get(workloadIdentity) ?? ''] as (typeof ROLES)[string];
  const {form, example} = IDENTITIES[key] as (typeof IDENTITIES)[string];
  const {[key]: before, ...others} = get(serviceAccountAnnotation) ?? {};
  const found = known.objects?.identities.find((each) => each.key === key);
  const text = await deps.prompter.input({
    ...frame,
    message,
    heading: [
      ...frame.heading,
      ...(found === undefined ? [] : [`Service account ${found.account} has ${found.value}.`]),
    ],
    help: [
      `${help} For example ${example}.`,
      `Written as annotation ${key} of the service account.`,
      'Flag --service-account-annotation. https://kubernetes.io/docs/concepts/security/service-accounts/',
    ],
    note: 'Enter: set it later',
    default: before ?? found?.value,
    isPrefilled: true,
    validate: (typed) =>
      typed === '' || form.test(typed) ? undefined : `Use a form such as ${example}.`,
  });
  const value = text === '' ? others : {...others, [key]: text};
  const answer = Object.keys(value).length === 0 ? undefined : {value, source: 'prompt' as const};
  return {question: ROLE, answers: [[serviceAccountAnnotation, answer]]};
}

/** Without a role that belongs to another identity, so that it is asked for again. */
export function withoutRole(state: WizardState): WizardState {
  const {get, isFixed} = state.answers;
  if (isFixed(serviceAccountAnnotation)) return state;
  const own = IDENTITY_ANNOTATIONS[get(workloadIdentity) ?? ''];
  const keys = Object.values(IDENTITY_ANNOTATIONS).filter((key) => key !== own);
  const annotations = Object.entries(get(serviceAccountAnnotation) ?? {});
  const others = annotations.filter(([key]) => !keys.includes(key));
  const value = Object.fromEntries(others);
  const answer = others.length === 0 ? undefined : {value, source: 'prompt' as const};
  return asUnasked(withAnswer(state, serviceAccountAnnotation, answer), ROLE);
}
