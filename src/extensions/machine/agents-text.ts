import type {Progress} from '../../checks/diagnose/explain.ts';
import {count} from '../../ground/text.ts';
import {findingText} from '../../ui/finding-text.ts';
import {paragraph, type Screen, stateMark, theme} from '../../ui/theme.ts';
import type {HostAgentState} from './agents.ts';

/** The state of every agent of this machine, and the causes of problems. */
export function hostStatusText(agents: readonly HostAgentState[], screen: Screen): string {
  const {bold} = theme(screen);
  const causes = agents.flatMap((each) => each.causes);
  return [
    ...agents.map((each) => agentLine(each, screen)),
    ...(causes.length === 0
      ? []
      : [`\n${bold('Causes')}\n`, ...causes.map((each) => findingText(each, screen))]),
  ].join('');
}

function agentLine(agent: HostAgentState, screen: Screen): string {
  const {object, state, text} = agentProgress(agent);
  return paragraph(`${stateMark(state, screen)} `, `${object}: ${text}`, screen);
}

/** The state of an agent as a line of the progress view. */
export function agentProgress({
  object,
  status,
  image,
  purpose,
  restarts,
  isRunning,
  causes,
  agent,
}: HostAgentState): Progress {
  const isBroken = !isRunning || causes.some(({verdict}) => verdict === 'error');
  const facts = [
    status,
    agent === 'registered' ? 'registered (according to its log)' : 'registration unknown',
    ...(purpose === 'vcs' ? ['VCS agent'] : []),
    ...(image === undefined ? [] : [image]),
    ...(restarts === 0 ? [] : [count(restarts, 'restart')]),
  ];
  const healthy = agent === 'registered' ? 'ready' : 'waiting';
  return {
    object,
    state: isBroken ? 'failing' : healthy,
    text: facts.join(', '),
  };
}
