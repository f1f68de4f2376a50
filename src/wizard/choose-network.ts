import {IDENTITIES} from '../charts/clouds.ts';
import type {ChartRequirements} from '../charts/recommend.ts';
import {IDENTITY_ANNOTATIONS} from '../charts/shared-rules.ts';
import type {Prompter} from '../ports/prompter.ts';
import {withoutCredentials} from '../settings/addresses.ts';
import type {Setting} from '../settings/define.ts';
import {metadataService, workloadIdentity} from '../settings/network.ts';
import {serviceAccountAnnotation} from '../settings/pods.ts';
import {purpose} from '../settings/purpose.ts';
import type {Answer} from '../settings/settings.ts';
import type {AnswerStore} from './answer-store.ts';
import type {Question} from './interview.ts';
import {chartDefaultOf, hostOf, isForeign} from './possible-answers.ts';
import {BOXES} from './steps.ts';

/** Which further questions about the network apply. */
export function boxesQuestion(
  store: AnswerStore,
  {prompter, env, facts}: {prompter: Prompter; env: Readonly<Record<string, string | undefined>>; facts(): ChartRequirements},
): Question {
  const withDefault = (id: string, description: string): string => {
    const unset = id === 'metadata' ? chartDefaultOf(metadataService, store, facts()) : undefined;
    return unset === undefined ? description : `${description} (chart default: ${unset === 'block' ? 'blocked' : 'allowed'})`;
  };
  const available = () =>
    BOXES.filter(
      ({settings, forRuns, forPods}) =>
        !settings.some(store.isFixed) &&
        !(forPods && hostOf(store)) &&
        (!forRuns || store.get(purpose) === 'runs') &&
        !settings.every((each) => isForeign(each, store)),
    );
  return {
    id: 'network',
    step: 'Network',
    message: 'Which of these apply to your network?',
    isOpen: () => !store.asked.has('network') && available().length > 0,
    async ask(shown) {
      const boxes = available();
      const proxy = env['HTTPS_PROXY'] || env['https_proxy'];
      const selected = await prompter.checkbox({
        ...shown,
        message: this.message,
        help: [
          'Select all that apply. Each selection adds one or two questions.',
          'With direct Internet access, usually none of these apply.',
          'https://docs.scalr.io/docs/agent-pools',
        ],
        choices: boxes.map(({id, label, description}) => ({
          value: id,
          label,
          description:
            id === 'proxy' && proxy ? `HTTPS_PROXY is ${withoutCredentials(proxy)} on this machine` : withDefault(id, description),
        })),
        selected: [...store.boxes],
      });
      for (const {id, settings} of boxes) if (!selected.includes(id)) for (const setting of settings) store.delete(setting);
      store.boxes = new Set(selected);
      if (!selected.includes('identity')) dropRole(store);
      return boxes.flatMap(({id, label}) => (selected.includes(id) ? [label] : [])).join(', ') || 'none';
    },
  };
}

/** What the role of a workload identity is called. */
const ROLES: Readonly<Record<string, {message: string; help: string}>> = {
  irsa: {message: 'ARN of the IAM role of runs', help: 'The role trusts the OIDC provider of the cluster.'},
  azure: {message: 'Client ID of the managed identity of runs', help: 'The identity has a federated credential for the service account.'},
};

/** The role that runs act as, where the workload identity needs one. */
export function roleQuestion(
  store: AnswerStore,
  put: (setting: Setting, answer: Answer | undefined) => void,
  {prompter}: {prompter: Prompter},
): Question {
  const role = () => ROLES[store.get(workloadIdentity) ?? ''];
  return {
    id: 'identity-role',
    step: 'Network',
    get message() {
      return role()?.message ?? '';
    },
    isOpen: () => !store.asked.has('identity-role') && role() !== undefined && !store.isFixed(serviceAccountAnnotation),
    async ask(shown) {
      const key = IDENTITY_ANNOTATIONS[store.get(workloadIdentity) ?? ''] as string;
      const {form, example} = IDENTITIES[key] as (typeof IDENTITIES)[string];
      const {[key]: before, ...others} = store.get(serviceAccountAnnotation) ?? {};
      const text = await prompter.input({
        ...shown,
        message: this.message,
        help: [
          role()?.help ?? '',
          `Written as annotation ${key} of the service account.`,
          'Flag --service-account-annotation. https://kubernetes.io/docs/concepts/security/service-accounts/',
        ],
        note: 'Enter: set it later',
        ...(before === undefined ? {} : {default: before, isPrefilled: true}),
        validate: (typed) => (typed === '' || form.test(typed) ? undefined : `Use a form such as ${example}.`),
      });
      const value = text === '' ? others : {...others, [key]: text};
      put(serviceAccountAnnotation, Object.keys(value).length === 0 ? undefined : {value, source: 'prompt'});
      return text || 'not set';
    },
  };
}

/** Removes a role that belongs to another identity, so that it is asked for again. */
export function dropRole(store: AnswerStore): void {
  if (store.isFixed(serviceAccountAnnotation)) return;
  const keys = Object.values(IDENTITY_ANNOTATIONS);
  const others = Object.entries(store.get(serviceAccountAnnotation) ?? {}).filter(([key]) => !keys.includes(key));
  store.delete(serviceAccountAnnotation);
  if (others.length > 0) store.set(serviceAccountAnnotation, {value: Object.fromEntries(others), source: 'prompt'});
  store.asked.delete('identity-role');
}
