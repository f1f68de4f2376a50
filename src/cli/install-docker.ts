import {resolve} from 'node:path';
import {answersText} from '../answers/answers-file.ts';
import {type HostAgent, hostAgent} from '../extensions/machine/agent.ts';
import type {HostAgentState} from '../extensions/machine/agents.ts';
import {agentProgress} from '../extensions/machine/agents-text.ts';
import {changeContainers, watchContainers} from '../extensions/machine/change.ts';
import {dockerFiles} from '../extensions/machine/docker.ts';
import {type HostPlan, INSTALL_ANSWERS} from '../extensions/machine/plan.ts';
import {type PreparedContainers, prepareContainers} from '../extensions/machine/prepare.ts';
import {commandLine} from '../ground/command-line.ts';
import {ExpectedError} from '../ground/errors.ts';
import {type SettingFinding, warningOf} from '../ground/finding.ts';
import {programOf} from '../ground/program.ts';
import {Secret} from '../ground/secret.ts';
import {token, url} from '../settings/agent.ts';
import {release} from '../settings/release.ts';
import type {Settings} from '../settings/settings.ts';
import {
  linkStep,
  type NextStep,
  NOT_WAITED,
  nextStepsText,
  resultSentence,
} from '../ui/next-steps.ts';
import {stepsText} from '../ui/plan.ts';
import type {App} from './app.ts';
import {earlierExport} from './earlier-export.ts';
import type {ConfirmFlags} from './flags.ts';
import {readSignal} from './host-agents.ts';
import {type CommandContext, type Operation, operate, type RunDeps, stepsOf} from './operate.ts';
import {withAbsolutePaths} from './save-files.ts';
import {writeFiles} from './write-files.ts';

export interface HostInstallResult {
  target: 'docker';
  release: string;
  image: string;
  containers: string[];
  /** False if every container was up to date. */
  changed: boolean;
  steps: {id: string; title: string}[];
  warnings: readonly SettingFinding[];
  /** Written files. */
  saved: string[];
  /** State according to the agent log; absent if the install did not wait. */
  agent?: 'registered' | 'unknown';
}

/** Where an install writes its files. */
export const directoryOf = (settings: Settings, save: string | undefined): string =>
  resolve(save ?? (settings.get(release) as string));

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
      hostAgent(settings, 'docker', {
        ...options,
        earlier: {...(running ? {token: new Secret(running)} : {}), ...earlier},
      }),
    directory,
    {host, files, signal},
  );
  if (prepared.agent.secrets['SCALR_AGENT_TOKEN'] === '') throw noToken();
  return prepared;
}

type InstallFlags = ConfirmFlags & {save?: string | undefined; 'no-wait'?: boolean};

/** An install that was read and planned. */
interface DockerInstall {
  settings: Settings;
  directory: string;
  prepared: PreparedContainers;
  /** Of a dry run. */
  result: HostInstallResult;
  waits: boolean;
  context: CommandContext;
}

/** Starts the containers of an agent on this machine, or brings them to the settings. `confirmed` is the plan that the user has seen. @throws ExpectedError */
export async function installInDocker(
  settings: Settings,
  flags: InstallFlags,
  context: CommandContext,
  confirmed?: HostPlan,
): Promise<HostInstallResult> {
  const directory = directoryOf(settings, flags.save);
  const prepared = await prepareInDocker(settings, directory, context.app, readSignal(context));
  const result = resultOf(prepared);
  const waits = !flags['no-wait'];
  const install = {settings, directory, prepared, result, waits, context};
  const operation = {
    ...operationOf(install, flags['dry-run'] ?? false),
    isConfirmed: confirmed !== undefined && titlesOf(confirmed) === titlesOf(prepared),
  };
  return operate(operation, result, flags, context);
}

/** The result before the install. */
function resultOf({agent, warnings, ...plan}: PreparedContainers): HostInstallResult {
  const steps = [...plan.steps, ...plan.finish];
  return {
    target: 'docker',
    release: agent.name,
    image: agent.image,
    containers: agent.agents.map(({name}) => name),
    changed: steps.length > 0,
    steps: stepsOf(steps),
    warnings: [...agent.warnings, ...warnings.map((message) => warningOf('DOCKER', message))],
    saved: [],
  };
}

function operationOf(install: DockerInstall, isDryRun: boolean): Operation<HostInstallResult> {
  const {directory, prepared, result, context} = install;
  const {name, image, notes} = prepared.agent;
  const steps = [...prepared.steps, ...prepared.finish];
  const place = {
    Target: 'Docker on this machine',
    Agents: `${result.containers.join(', ')} (${image})`,
    Files: directory,
  };
  const plan = stepsText(steps, place, context.screen);
  return {
    title: `${result.changed ? 'Installing' : 'Checking'} agent ${name} in Docker`,
    steps,
    text: result.changed || isDryRun ? `${plan}\n${notes.map((note) => `${note}\n`).join('')}` : '',
    warnings: result.warnings,
    run: (deps) => run(install, deps),
  };
}

/** Writes the files of a changed install, and starts the containers. @throws ExpectedError */
async function run(install: DockerInstall, deps: RunDeps): Promise<HostInstallResult> {
  const {settings, directory, prepared, waits, context} = install;
  const {name} = prepared.agent;
  const {changed} = install.result;
  if (changed) await writeAgentFiles(install, deps);
  const agent = await changeInDocker(prepared, context, deps, waits);
  const result = {...install.result, saved: changed ? [directory] : []};
  if (agent === undefined) {
    deps.done(`Agent ${name} is started`, NOT_WAITED);
    return result;
  }
  const address = settings.get(url);
  deps.done(...resultSentence({what: `agent ${name}`, hasChanged: changed, agent, url: address}));
  context.say(nextStepsText(nextSteps(prepared.agent, context), context.screen));
  return {...result, agent};
}

async function writeAgentFiles(
  {settings, directory, prepared, context}: DockerInstall,
  {onStep}: RunDeps,
): Promise<void> {
  const answers = {
    path: INSTALL_ANSWERS,
    text: answersText(withAbsolutePaths(settings)),
    isPrivate: true,
  };
  const files = [
    ...dockerFiles(prepared.agent, [`Generated by scalr-agent install, from ${INSTALL_ANSWERS}.`])
      .files,
    answers,
  ];
  const step = {title: `Write files to ${directory}`};
  onStep(step, 'started');
  const options = {directory, flag: '--save', isDryRun: false, isAccepted: true} as const;
  await writeFiles(files, context.app.files, options);
  onStep(step, 'done');
}

/** Runs the plan of an install, and waits for its agents. @throws ExpectedError: the previous containers run again */
export function changeInDocker(
  prepared: PreparedContainers,
  {app}: Pick<CommandContext, 'app'>,
  deps: RunDeps,
  waits: boolean,
): Promise<HostInstallResult['agent']> {
  const all = {...deps, host: app.host, processes: app.processes({})};
  const onState = (agents: readonly HostAgentState[]): void =>
    deps.onProgress(
      agents.map(agentProgress),
      agents.flatMap(({causes}) => causes),
    );
  return changeContainers(prepared, all, async () =>
    waits ? watchContainers(prepared.agent.name, {...all, onState}) : undefined,
  );
}

/** A support bundle is about one container. */
function nextSteps({name, agents, mode}: HostAgent, {app}: CommandContext): NextStep[] {
  const program = programOf(app.env);
  const own = (...args: string[]): string =>
    commandLine({tool: 'scalr-agent', args}).replace(/^scalr-agent/, program.other);
  const bundles =
    agents.length === 1
      ? [['--target', 'docker', '--release', name]]
      : agents.map((each) => ['--docker', each.name]);
  return [
    linkStep(mode === 'vcs'),
    [own('status', '--target', 'docker', '--release', name), 'health and versions'],
    ...bundles.map(
      (args): NextStep => [own('collect-logs', ...args), 'write a bundle for support'],
    ),
    [
      own('uninstall', '--target', 'docker', '--release', name, '--dry-run'),
      'show what it would remove',
    ],
  ];
}

const titlesOf = ({steps, finish}: Pick<HostPlan, 'steps' | 'finish'>): string =>
  [...steps, ...finish].map(({title}) => title).join('\n');

const noToken = (): ExpectedError =>
  new ExpectedError('The agent pool token is missing.', {
    code: 'MISSING_SETTING',
    suggestions: [`Set ${token.env}, or --token-file`],
    options: [
      {add: '--token-file FILE', when: 'Read the token from a file'},
      {add: `${token.env}=TOKEN`, when: 'Set the token in a variable'},
    ],
  });
