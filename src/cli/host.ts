import {resolve} from 'node:path';
import {answersText} from '../answers/answers-file.ts';
import {type HostAgent, hostAgent} from '../extensions/machine/agent.ts';
import {
  areReady,
  type HostAgentState,
  hasService,
  stateOfContainer,
  stateOfService,
} from '../extensions/machine/agents.ts';
import {agentProgress, hostStatusText} from '../extensions/machine/agents-text.ts';
import {changeContainers, watchContainers} from '../extensions/machine/change.ts';
import {
  agentContainers,
  containerName,
  currentContainers,
  type DockerContainer,
  readContainers,
} from '../extensions/machine/containers.ts';
import {dockerFiles} from '../extensions/machine/docker.ts';
import {DROP_INS} from '../extensions/machine/files.ts';
import {directoriesOf, type HostPlan, INSTALL_ANSWERS} from '../extensions/machine/plan.ts';
import {type PreparedContainers, prepareContainers} from '../extensions/machine/prepare.ts';
import {
  type HostRemoval,
  planContainerRemoval,
  planServiceRemoval,
} from '../extensions/machine/removal.ts';
import {commandLine, programOf} from '../ground/command-line.ts';
import {ExitCode, ExpectedError, failed, onFailure, type Warning} from '../ground/errors.ts';
import {Secret} from '../ground/secret.ts';
import type {HostTools} from '../ground/system/system.ts';
import {runSteps} from '../operations/run-steps.ts';
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
import {accountText, stepsText} from '../ui/plan.ts';
import type {App} from './app.ts';
import type {ConfirmFlags} from './flags.ts';
import {type CommandContext, type Operation, operate, type RunDeps, stepsOf} from './operate.ts';
import {earlierExport, withAbsolutePaths, writeFiles} from './user-files.ts';

export type HostStatusDocument = Awaited<ReturnType<typeof hostStatus>>;

/** State of the agents on this machine, or of one release. @throws ExpectedError if no agent is found */
export async function hostStatus(
  target: 'docker' | 'systemd',
  name: string | undefined,
  {app, show, isJson, screen, timeoutMs, exitWith}: CommandContext,
) {
  const deps = {host: app.host, signal: readSignal({timeoutMs}), now: app.now};
  const agents =
    target === 'docker'
      ? await Promise.all(
          currentContainers(await readContainers(deps), name).map((each) =>
            stateOfContainer(each, deps),
          ),
        )
      : [await stateOfService(deps)].filter((each) => each !== undefined);
  if (agents.length === 0) throw noAgent(target, name);
  if (!isJson) show(hostStatusText(agents, screen));
  const isReady = areReady(agents);
  if (!isReady) exitWith(ExitCode.failed);
  return {
    target,
    state: isReady ? ('ready' as const) : ('not-ready' as const),
    agents: agents.map(({causes: _, isRunning: __, ...agent}) => agent),
    causes: agents.flatMap(({causes}) =>
      causes.map(({object, code, reason, remedy}) => ({object, code, reason, remedy})),
    ),
  };
}

export type HostUninstallResult = Awaited<ReturnType<typeof uninstallFromHost>>;

/** Removes the containers of a release, or the service of the Linux packages. @throws ExpectedError */
export async function uninstallFromHost(
  target: 'docker' | 'systemd',
  name: string,
  flags: ConfirmFlags,
  context: CommandContext,
) {
  const {app, screen, say} = context;
  const {steps, warnings, removes, keeps} = await removalOf(target, name, context);
  const result = {
    target,
    changed: steps.length > 0,
    steps: stepsOf(steps),
    removed: removes,
    kept: keeps,
  };
  if (!result.changed) {
    say(
      `${target === 'docker' ? `No container of release ${name}` : 'No service scalr-agent'} on this machine. Nothing was changed.\n`,
    );
    return result;
  }
  const place = {
    Target: target === 'docker' ? 'Docker on this machine' : 'systemd on this machine',
  };
  const operation: Operation<typeof result> = {
    title:
      target === 'docker'
        ? `Removing the agent containers of release ${name}`
        : 'Removing service scalr-agent',
    steps,
    text: `${stepsText(steps, place, screen)}\n${accountText({removes, keeps}, false, screen)}\n`,
    warnings: warnings.map((message) => ({code: 'DRAIN', message})),
    run: async (deps) => {
      await runSteps(steps, {...deps, processes: app.processes({})});
      deps.done('The agent is removed');
      say(accountText({removes, keeps}, true, screen));
      return result;
    },
  };
  return operate(operation, result, flags, context);
}

async function removalOf(
  target: 'docker' | 'systemd',
  name: string,
  {app, timeoutMs}: CommandContext,
): Promise<HostRemoval> {
  const deps = {host: app.host, signal: readSignal({timeoutMs}), now: app.now};
  if (target === 'docker') {
    const [all, isService] = await Promise.all([readContainers(deps), hasService(deps)]);
    const installed = agentContainers(all, name);
    const directories = [...new Set(installed.flatMap(directoriesOf))];
    const files = await Promise.all(
      directories.map(async (path) => [path, await app.files.list(path)] as const),
    );
    return planContainerRemoval(installed, {
      others: all.filter((each) => !installed.includes(each)),
      hasService: isService,
      files: new Map(files),
    });
  }
  if ((await stateOfService(deps)) === undefined)
    return {steps: [], warnings: [], removes: [], keeps: []};
  const kinds = await Promise.all(DROP_INS.map((path) => app.files.kindOf(path)));
  return planServiceRemoval(
    DROP_INS.filter((_, index) => kinds[index] === 'file'),
    await otherContainers(deps),
  );
}

/** A machine without Docker has no containers; undefined if they cannot be read. */
const otherContainers = (
  deps: Parameters<typeof readContainers>[0],
): Promise<DockerContainer[] | undefined> =>
  readContainers(deps).catch(onFailure(({code}) => (code === 'TOOL_NOT_FOUND' ? [] : undefined)));

/** The only agent container of this machine, or of a release. @throws ExpectedError */
export async function onlyContainer(
  name: string | undefined,
  host: HostTools,
  timeoutMs: number,
): Promise<string> {
  const found: DockerContainer[] = currentContainers(
    await readContainers({host, signal: readSignal({timeoutMs})}),
    name,
  );
  const [only, ...others] = found.map(containerName);
  if (only === undefined) throw noAgent('docker', name);
  if (others.length === 0) return only;
  throw failed(
    'USAGE',
    `This machine has ${found.length} agent containers.`,
    [only, ...others].map((each) => `scalr-agent collect-logs --docker ${each}`),
  );
}

/** Docker and systemd respond within this time. */
const MAX_READ_MS = 30_000;

export const readSignal = ({timeoutMs}: Pick<CommandContext, 'timeoutMs'>): AbortSignal =>
  AbortSignal.timeout(Math.min(timeoutMs, MAX_READ_MS));

export const noAgent = (target: 'docker' | 'systemd', name: string | undefined): ExpectedError =>
  failed(
    'AGENT_NOT_FOUND',
    target === 'docker'
      ? `No agent container${name === undefined ? '' : ` of release ${name}`} on this machine.`
      : 'No service scalr-agent on this machine.',
    target === 'docker'
      ? [
          'List the containers: docker ps --all',
          'Start the wizard to install an agent: scalr-agent install --target docker',
        ]
      : ['Run the command on the machine where the agent runs'],
  );

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
        const answers = {
          path: INSTALL_ANSWERS,
          text: answersText(withAbsolutePaths(settings)),
          isPrivate: true,
        };
        const step = {title: `Write files to ${directory}`};
        deps.onStep(step, 'started');
        await writeFiles([...dockerFiles(host).files, answers], app.files, written);
        deps.onStep(step, 'done');
      }
      const agent = await changeInDocker(prepared, context, deps, !flags['no-wait']);
      const saved = result.changed ? [directory] : [];
      if (agent === undefined) {
        deps.done(`Agent ${host.name} is started`, NOT_WAITED);
        return {...result, saved};
      }
      deps.done(
        ...resultSentence({
          what: `agent ${host.name}`,
          hasChanged: result.changed,
          agent,
          url: settings.get(url),
        }),
      );
      say(nextStepsText(nextSteps(host, context), screen));
      return {...result, agent, saved};
    },
  };
  return operate(operation, result, flags, context);
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
