import {namespace, release} from '../settings/release.ts';
import type {Asking} from './asking.ts';
import type {KnownFacts} from './gathered-facts.ts';
import type {Reply} from './reply.ts';
import type {WizardState} from './wizard-state.ts';

const NEW = '';

/** Agents that can be meant: those whose namespace and name agree with what was given. */
function offered({answers}: WizardState, {cluster}: KnownFacts) {
  const agrees = (setting: typeof namespace | typeof release, value: string): boolean =>
    !answers.isFixed(setting) || answers.get(setting) === value;
  return (cluster?.releases ?? []).filter(
    (each) => agrees(namespace, each.namespace) && agrees(release, each.name),
  );
}

/** All but the chosen one. */
export const otherAgents = (state: WizardState, known: KnownFacts) =>
  offered(state, known).filter(
    ({name, namespace: where}) =>
      name !== state.answers.get(release) || where !== state.answers.get(namespace),
  );

/** True if such agents are installed, and none of them has the chosen name. */
export function isElsewhere(state: WizardState, known: KnownFacts): boolean {
  const {get} = state.answers;
  const releases = offered(state, known);
  const isOwn = releases.some(
    (each) => each.name === get(release) && each.namespace === get(namespace),
  );
  return releases.length > 0 && !isOwn;
}

/** Agents of other namespaces and other names: whoever installed one probably means it. */
export async function askElsewhere({state, known, frame, deps}: Asking): Promise<Reply> {
  const releases = offered(state, known);
  const {get} = state.answers;
  const picked = await deps.prompter.select({
    ...frame,
    message: 'An agent is installed in this cluster. Open it?',
    help: [
      'Open a release to change, upgrade or remove it.',
      'Flags --namespace and --release. https://helm.sh/docs/glossary/#release',
    ],
    choices: [
      ...releases.map(({name, namespace: where, chart, version, status}, index) => ({
        value: String(index),
        label: `${name} in namespace ${where}`,
        description: `${chart} ${version}${status === 'deployed' ? '' : `, ${status}`}`,
      })),
      {
        value: NEW,
        label: 'Install another agent',
        description: `${get(release)} in namespace ${get(namespace)}`,
      },
    ],
    default: '0',
  });
  const found = picked === NEW ? undefined : releases[Number(picked)];
  if (found === undefined) return {question: 'elsewhere'};
  return {
    question: 'elsewhere',
    answers: [
      [namespace, {value: found.namespace, source: 'prompt'}],
      [release, {value: found.name, source: 'prompt'}],
    ],
  };
}
