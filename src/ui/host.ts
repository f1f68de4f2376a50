import {count} from '../ground/text.ts';
import type {HostAgent} from '../host/agent.ts';
import type {HostAgentState, HostCause} from '../host/agents.ts';
import type {HostPlan} from '../host/plan.ts';
import {paragraph, type Screen, theme} from './theme.ts';

/** What an install on this machine will do. */
export function hostPlanText({steps}: Pick<HostPlan, 'steps'>, where: readonly (readonly [string, string])[], screen: Screen): string {
  const {bold} = theme(screen);
  const lines = steps.map(({title}, index) => paragraph(`  ${index + 1}. `, title, screen));
  return [...where.map(([name, text]) => `${bold(name.padEnd(WIDTH))}${text}\n`), '\n', ...lines].join('');
}

const WIDTH = 11;

/** The heading of a plan with containers. */
export const dockerPlace = (host: HostAgent, directory: string): [string, string][] => [
  ['Target', 'Docker on this machine'],
  ['Agents', `${host.agents.map(({name}) => name).join(', ')} (${host.image})`],
  ['Files', directory],
];

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
  const {green, red, yellow} = theme(screen);
  const {object, status, image, purpose, restarts, isRunning, causes} = agent;
  const isBroken = !isRunning || causes.some(({isError}) => isError);
  const mark = isBroken ? red('×') : agent.agent === 'registered' ? green('✓') : yellow('…');
  const facts = [
    status,
    agent.agent === 'registered' ? 'registered (according to its log)' : 'registration unknown',
    ...(purpose === 'vcs' ? ['VCS agent'] : []),
    ...(image === undefined ? [] : [image]),
    ...(restarts === 0 ? [] : [count(restarts, 'restart')]),
  ];
  return paragraph(`${mark} `, `${object}: ${facts.join(', ')}`, screen);
}

const causeText = ({object, reason, remedy, isError}: HostCause, screen: Screen): string =>
  `${paragraph(`  ${isError ? '×' : '!'} `, `${object}: ${reason}`, screen)}    → ${remedy}\n`;

/** Prints an agent whenever its state changes. */
export function agentsReporter(write: (text: string) => void, screen: Screen): (agents: readonly HostAgentState[]) => void {
  const last = new Map<string, string>();
  return (agents) => {
    for (const each of agents) {
      const line = agentLine(each, screen) + each.causes.map((cause) => causeText(cause, screen)).join('');
      if (last.get(each.object) !== line) write(line);
      last.set(each.object, line);
    }
  };
}
