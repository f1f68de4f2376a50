import {resolve} from 'node:path';
import {commandLine, programOf} from '../ground/command-line.ts';
import {ExpectedError, type Warning} from '../ground/errors.ts';
import {Secret} from '../ground/secret.ts';
import {type HostAgent, hostAgent} from '../host/agent.ts';
import type {HostAgentState} from '../host/agents.ts';
import {changeContainers, watchContainers} from '../host/change.ts';
import {dockerFiles} from '../host/docker.ts';
import type {HostPlan} from '../host/plan.ts';
import {type PreparedContainers, prepareContainers} from '../host/prepare.ts';
import {token, url} from '../settings/agent.ts';
import {release} from '../settings/release.ts';
import type {Settings} from '../settings/settings.ts';
import {linkStep, type NextStep, NOT_WAITED, nextStepsText, resultSentence, stepsText} from '../ui/plan.ts';
import {agentProgress} from '../ui/status-list.ts';
import type {App} from './app.ts';
import {readSignal} from './host-commands.ts';
import {type CommandContext, type ConfirmFlags, type Operation, operate, stepsOf} from './operate.ts';
import {earlierExport, writeFiles} from './user-files.ts';

export interface HostInstallResult {
  target: 'docker';
  release: string;
  image: string;
  containers: string[];
  /** False if every container was up to date. */
  changed: boolean;
  steps: {id: string; title: string}[];
  warnings: readonly Warning[];
  /** Written files. */
  saved: string[];
  /** State according to the agent log; absent if the install did not wait. */
  agent?: 'registered' | 'unknown';
}

/** Where an install writes its files. */
export const directoryOf = (settings: Settings, save: string | undefined): string => resolve(save ?? (settings.get(release) as string));

/** Reads the machine and plans the install. Read-only. @throws ExpectedError */
export async function prepareInDocker(
  settings: Settings,
  directory: string,
  {host, files}: Pick<App, 'host' | 'files'>,
  signal: AbortSignal,
): Promise<PreparedContainers> {
  const earlier = await earlierExport(directory, files);
  const prepared = await prepareContainers(
    (options, {SCALR_AGENT_TOKEN: running} = {}) =>
      hostAgent(settings, 'docker', {...options, earlier: {...(running ? {token: new Secret(running)} : {}), ...earlier}}),
    directory,
    {host, files, signal},
  );
  if (prepared.agent.secrets['SCALR_AGENT_TOKEN'] === '') throw noToken();
  return prepared;
}

/** Starts the containers of an agent on this machine, or brings them to the settings. `confirmed` is the plan that the user has seen. @throws ExpectedError */
export async function installInDocker(
  settings: Settings,
  flags: ConfirmFlags & {save?: string | undefined; 'no-wait'?: boolean},
  context: CommandContext,
  confirmed?: HostPlan,
): Promise<HostInstallResult> {
  const {app, screen, say} = context;
  const directory = directoryOf(settings, flags.save);
  const prepared = await prepareInDocker(settings, directory, app, readSignal(context));
  const {agent: host, warnings} = prepared;
  const steps = [...prepared.steps, ...prepared.finish];
  const result: HostInstallResult = {
    target: 'docker',
    release: host.name,
    image: host.image,
    containers: host.agents.map(({name}) => name),
    changed: steps.length > 0,
    steps: stepsOf(steps),
    warnings: [...host.warnings, ...warnings.map((message) => ({code: 'DOCKER', message}))],
    saved: [],
  };
  const place = {
    Target: 'Docker on this machine',
    Agents: `${host.agents.map(({name}) => name).join(', ')} (${host.image})`,
    Files: directory,
  };
  const text = `${stepsText(steps, place, screen)}\n${host.notes.map((note) => `${note}\n`).join('')}`;
  const operation: Operation<HostInstallResult> = {
    title: `${result.changed ? 'Installing' : 'Checking'} agent ${host.name} in Docker`,
    steps,
    text: result.changed || flags['dry-run'] ? text : '',
    warnings: result.warnings,
    isConfirmed: confirmed !== undefined && titlesOf(confirmed) === titlesOf(prepared),
    run: async (deps) => {
      if (result.changed) {
        const written = {directory, isDryRun: false, isAccepted: true};
        say(`${(await writeFiles(dockerFiles(host).files, app.files, written)).join('\n')}\n`);
      }
      const all = {...deps, host: app.host, processes: app.processes({})};
      const onState = (agents: readonly HostAgentState[]): void =>
        deps.onProgress(
          agents.map(agentProgress),
          agents.flatMap(({causes}) => causes),
        );
      const watch = async () => (flags['no-wait'] ? undefined : watchContainers(host.name, {...all, onState}));
      const agent = await changeContainers(prepared, all, watch);
      const saved = result.changed ? [directory] : [];
      if (agent === undefined) {
        deps.done(`Agent ${host.name} is started`, NOT_WAITED);
        return {...result, saved};
      }
      deps.done(...resultSentence({what: `agent ${host.name}`, hasChanged: result.changed, agent, url: settings.get(url)}));
      say(nextStepsText(nextSteps(host, context), screen));
      return {...result, agent, saved};
    },
  };
  return operate(operation, result, flags, context);
}

/** A support bundle is about one container. */
function nextSteps({name, agents, mode}: HostAgent, {app}: CommandContext): NextStep[] {
  const program = programOf(app.env);
  const own = (...args: string[]): string => commandLine({tool: 'scalr-agent', args}).replace(/^scalr-agent/, program.other);
  const bundles = agents.length === 1 ? [['--target', 'docker', '--release', name]] : agents.map((each) => ['--docker', each.name]);
  return [
    linkStep(mode === 'vcs', program),
    [own('status', '--target', 'docker', '--release', name), 'health and versions'],
    ...bundles.map((args): NextStep => [own('collect-logs', ...args), 'write a bundle for support']),
    [own('uninstall', '--target', 'docker', '--release', name, '--dry-run'), 'show what it would remove'],
  ];
}

const titlesOf = ({steps, finish}: Pick<HostPlan, 'steps' | 'finish'>): string => [...steps, ...finish].map(({title}) => title).join('\n');

const noToken = (): ExpectedError =>
  new ExpectedError('Missing token of the agent pool.', {
    code: 'MISSING_SETTING',
    suggestions: [`Set ${token.env}, or --token-file`],
    options: [
      {add: '--token-file FILE', when: 'Read the token from a file'},
      {add: `${token.env}=TOKEN`, when: 'Give the token in a variable'},
    ],
  });
