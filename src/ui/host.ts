import type {Warning} from '../ground/errors.ts';
import {count} from '../ground/text.ts';
import type {HostAgentState, HostCause} from '../host/agents.ts';
import {lineWriter, stateMark} from './plan.ts';
import {diagnosisText, paragraph, type Screen, theme} from './theme.ts';

/** The state of every agent of this machine, and the causes of problems. */
export function hostStatusText(agents: readonly HostAgentState[], screen: Screen): string {
  const {bold} = theme(screen);
  const causes = agents.flatMap((each) => each.causes);
  return [
    ...agents.map((each) => agentLine(each, screen)),
    ...(causes.length === 0 ? [] : [`\n${bold('Causes')}\n`, ...causes.map((each) => causeText(each, screen))]),
  ].join('');
}

function agentLine(agent: HostAgentState, screen: Screen): string {
  const {object, status, image, purpose, restarts, isRunning, causes} = agent;
  const isBroken = !isRunning || causes.some(({isError}) => isError);
  const state = isBroken ? 'failing' : agent.agent === 'registered' ? 'ready' : 'waiting';
  const facts = [
    status,
    agent.agent === 'registered' ? 'registered (according to its log)' : 'registration unknown',
    ...(purpose === 'vcs' ? ['VCS agent'] : []),
    ...(image === undefined ? [] : [image]),
    ...(restarts === 0 ? [] : [count(restarts, 'restart')]),
  ];
  return paragraph(`${stateMark(state, screen)} `, `${object}: ${facts.join(', ')}`, screen);
}

const causeText = (cause: HostCause, screen: Screen): string => diagnosisText(cause.isError ? '×' : '!', cause, screen);

/** Prints an agent whenever its state changes. */
export function agentsReporter(write: (text: string) => void, screen: Screen): (agents: readonly HostAgentState[]) => void {
  const writeLine = lineWriter(write);
  return (agents) => {
    for (const each of agents)
      writeLine(each.object, agentLine(each, screen) + each.causes.map((cause) => causeText(cause, screen)).join(''));
  };
}

/** What to do with exported files. */
export function exportStepsText(steps: readonly string[], directory: string, warnings: readonly Warning[]): string {
  const first = warnings.some(({code}) => code === 'NO_TOKEN') ? ['# Set SCALR_AGENT_TOKEN in agent.env'] : [];
  const lines = [...first, ...steps].map((step) => `  ${step}\n`);
  return `Next steps${directory === '' ? '' : `, in ${directory}`}:\n${lines.join('')}`;
}
