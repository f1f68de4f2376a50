import {resolve} from 'node:path';
import {runSteps} from '../apply/run-steps.ts';
import {commandLine, programOf} from '../command-line.ts';
import {ExitCode, ExpectedError, type Warning} from '../errors.ts';
import {
  agentContainers,
  areReady,
  type Container,
  containerName,
  type HostAgentState,
  readContainers,
  readDocker,
  stateOfContainer,
  stateOfService,
} from '../host/agents.ts';
import {type HostPlan, type HostRemoval, planContainerRemoval, planContainers, planServiceRemoval} from '../host/plan.ts';
import {watchContainers} from '../host/watch.ts';
import type {Step} from '../plan/step.ts';
import type {KeptObject} from '../plan/uninstall-keeps.ts';
import type {HostTools} from '../ports/host-tools.ts';
import type {Prompter} from '../ports/prompter.ts';
import {token} from '../settings/agent.ts';
import {release} from '../settings/release.ts';
import type {Settings} from '../settings/settings.ts';
import {dockerFiles} from '../targets/docker.ts';
import {hostAgent} from '../targets/host/agent.ts';
import {DROP_INS} from '../targets/systemd.ts';
import {agentsReporter, dockerPlace, hostPlanText, hostStatusText} from '../ui/host.ts';
import {accountText, callsText, LINK_VCS, stepText} from '../ui/plan.ts';
import {paragraph, type Screen} from '../ui/theme.ts';
import type {App} from './app.ts';
import {confirmPlan} from './confirm-plan.ts';
import {tokenIn, writeFiles} from './export-files.ts';

/** What a command for an agent on this machine needs. */
export interface HostContext {
  app: App;
  screen: Screen;
  prompter: Prompter | undefined;
  timeoutMs: number;
  /** The result is printed as JSON. */
  isJson: boolean;
  say(text: string): void;
  show(text: string): void;
  report(warnings: readonly Warning[]): void;
}

interface ConfirmFlags {
  yes?: boolean;
  'dry-run'?: boolean;
}

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

/** Starts the containers of an agent on this machine, or brings them to the settings. `confirmed` is the plan that the user has seen. @throws ExpectedError */
export async function installInDocker(
  settings: Settings,
  flags: ConfirmFlags & {save?: string | undefined; 'no-wait'?: boolean},
  context: HostContext,
  confirmed?: HostPlan,
): Promise<HostInstallResult> {
  const {app, screen, say} = context;
  const directory = resolve(flags.save ?? (settings.get(release) as string));
  const host = hostAgent(settings, 'docker', await tokenIn(directory, app.files));
  if (host.secrets['SCALR_AGENT_TOKEN'] === '') throw noToken();
  const {steps, warnings} = planContainers(host, directory, await readDocker(host.image, {host: app.host, signal: readSignal(context)}));
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
  const text = `${hostPlanText({steps}, dockerPlace(host, directory), screen)}\n${host.notes.map((note) => `${note}\n`).join('')}`;
  const isConfirmed = confirmed !== undefined && titlesOf(confirmed) === titlesOf({steps});
  if (!isConfirmed) context.report(result.warnings);
  if (flags['dry-run']) {
    say(text);
    if (!context.isJson) app.stdout(callsText({steps}));
    return result;
  }
  if (result.changed) {
    if (!isConfirmed) await confirm(text, flags, context);
    const written = {directory, isDryRun: false, isAccepted: true};
    say(`${(await writeFiles(dockerFiles(host).files, app.files, written)).join('\n')}\n`);
  }
  return withInterrupts(context, async (deps) => {
    await runSteps(steps, deps);
    if (flags['no-wait']) return result;
    const agent = await watchContainers(host.name, {...deps, timeoutMs: context.timeoutMs, onState: agentsReporter(say, screen)});
    const what = result.changed ? 'is ready' : 'is up to date and ready';
    const log = agent === 'registered' ? 'has registered (according to its log)' : 'does not show in its log whether it has registered';
    say(
      `${paragraph('', `Agent ${host.name} ${what}, and ${log}.`, screen)}Next steps:\n${host.mode === 'vcs' ? `  - ${LINK_VCS}\n` : ''}${nextSteps(host.name, context)}`,
    );
    return {...result, agent, saved: result.changed ? [directory] : []};
  });
}

const nextSteps = (name: string, {app}: HostContext): string =>
  [['status'], ['collect-logs'], ['uninstall', '--dry-run']]
    .map(([command = '', ...more]) => commandLine({tool: 'scalr-agent', args: [command, '--target', 'docker', '--release', name, ...more]}))
    .map((line) => `  - ${line.replace(/^scalr-agent/, programOf(app.env).other)}\n`)
    .join('');

export interface HostStatusDocument {
  target: 'docker' | 'systemd';
  state: 'ready' | 'not-ready';
  agents: Omit<HostAgentState, 'causes' | 'isRunning'>[];
  causes: {object: string; code: string; reason: string; remedy: string}[];
}

/** State of the agents on this machine, or of one release. @throws ExpectedError if no agent is found */
export async function hostStatus(
  target: 'docker' | 'systemd',
  name: string | undefined,
  {app, show, isJson, screen, timeoutMs}: HostContext,
): Promise<HostStatusDocument> {
  const deps = {host: app.host, signal: readSignal({timeoutMs}), now: app.now};
  const agents =
    target === 'docker'
      ? await Promise.all(agentContainers(await readContainers(deps), name).map((each) => stateOfContainer(each, deps)))
      : [await stateOfService(deps)].filter((each) => each !== undefined);
  if (agents.length === 0) throw noAgent(target, name);
  if (!isJson) show(hostStatusText(agents, screen));
  const isReady = areReady(agents);
  if (!isReady) process.exitCode = ExitCode.failed;
  return {
    target,
    state: isReady ? 'ready' : 'not-ready',
    agents: agents.map(({causes: _, isRunning: __, ...agent}) => agent),
    causes: agents.flatMap(({causes}) => causes.map(({object, code, reason, remedy}) => ({object, code, reason, remedy}))),
  };
}

export interface HostUninstallResult {
  target: 'docker' | 'systemd';
  changed: boolean;
  steps: {id: string; title: string}[];
  removed: readonly string[];
  kept: readonly KeptObject[];
}

/** Removes the containers of a release, or the service of the Linux packages. @throws ExpectedError */
export async function uninstallFromHost(
  target: 'docker' | 'systemd',
  name: string,
  flags: ConfirmFlags,
  context: HostContext,
): Promise<HostUninstallResult> {
  const {app, screen, say} = context;
  const {steps, warnings, removes, keeps} = await removalOf(target, name, context);
  const result = {target, changed: steps.length > 0, steps: stepsOf(steps), removed: removes, kept: keeps};
  if (!result.changed) {
    say(`${target === 'docker' ? `No container of release ${name}` : 'No service scalr-agent'} on this machine. Nothing was changed.\n`);
    return result;
  }
  context.report(warnings.map((message) => ({code: 'DRAIN', message})));
  const place = [['Target', target === 'docker' ? 'Docker on this machine' : 'systemd on this machine']] as const;
  const text = `${hostPlanText({steps}, place, screen)}\n${accountText({removes, keeps}, false, screen)}\n`;
  if (flags['dry-run']) {
    say(text);
    if (!context.isJson) app.stdout(callsText({steps}));
    return result;
  }
  await confirm(text, flags, context);
  await withInterrupts(context, (deps) => runSteps(steps, deps));
  say(accountText({removes, keeps}, true, screen));
  return result;
}

async function removalOf(target: 'docker' | 'systemd', name: string, {app, timeoutMs}: HostContext): Promise<HostRemoval> {
  const deps = {host: app.host, signal: readSignal({timeoutMs}), now: app.now};
  if (target === 'docker') return planContainerRemoval(agentContainers(await readContainers(deps), name));
  if ((await stateOfService(deps)) === undefined) return {steps: [], warnings: [], removes: [], keeps: []};
  const kinds = await Promise.all(DROP_INS.map((path) => app.files.kindOf(path)));
  return planServiceRemoval(DROP_INS.filter((_, index) => kinds[index] === 'file'));
}

/** The only agent container of this machine, or of a release. @throws ExpectedError */
export async function onlyContainer(name: string | undefined, host: HostTools, timeoutMs: number): Promise<string> {
  const found: Container[] = agentContainers(await readContainers({host, signal: readSignal({timeoutMs})}), name);
  const [only, ...others] = found.map(containerName);
  if (only === undefined) throw noAgent('docker', name);
  if (others.length === 0) return only;
  throw new ExpectedError(`This machine has ${found.length} agent containers.`, {
    code: 'USAGE',
    exit: ExitCode.usage,
    suggestions: [only, ...others].map((each) => `scalr-agent collect-logs --docker ${each}`),
  });
}

const titlesOf = ({steps}: Pick<HostPlan, 'steps'>): string => steps.map(({title}) => title).join('\n');

const stepsOf = (steps: readonly Step[]) => steps.map(({id, title}) => ({id, title}));

/** Docker and systemd respond within this time. */
const MAX_READ_MS = 30_000;

const readSignal = ({timeoutMs}: Pick<HostContext, 'timeoutMs'>): AbortSignal => AbortSignal.timeout(Math.min(timeoutMs, MAX_READ_MS));

/** Only a plan that was shown can be confirmed. */
async function confirm(text: string, {yes = false}: ConfirmFlags, {app, say, prompter}: HostContext): Promise<void> {
  if (yes) say(text);
  else app.stderr(text);
  await confirmPlan({isAccepted: yes, prompter});
}

type Deps = Parameters<typeof runSteps>[1] & {host: App['host']};

async function withInterrupts<T>({app, say}: HostContext, work: (deps: Deps) => Promise<T>): Promise<T> {
  const interrupts = app.takeInterrupts();
  try {
    const {now, sleep, host} = app;
    return await work({processes: app.processes({}), interrupts, now, sleep, host, onStep: (...news) => say(stepText(...news))});
  } finally {
    interrupts.release();
  }
}

const noToken = (): ExpectedError =>
  new ExpectedError('Missing token of the agent pool.', {
    code: 'MISSING_SETTING',
    exit: ExitCode.usage,
    suggestions: [`Set ${token.env}, or --token-file`],
  });

const noAgent = (target: 'docker' | 'systemd', name: string | undefined): ExpectedError =>
  new ExpectedError(
    target === 'docker'
      ? `No agent container${name === undefined ? '' : ` of release ${name}`} on this machine.`
      : 'No service scalr-agent on this machine.',
    {
      code: 'AGENT_NOT_FOUND',
      exit: ExitCode.usage,
      suggestions:
        target === 'docker'
          ? ['List the containers: docker ps --all', 'Install an agent: scalr-agent install --target docker']
          : ['Run the command on the machine of the agent'],
    },
  );
