import {ExitCode, ExpectedError, type Warning} from '../ground/errors.ts';
import {areReady, type HostAgentState, hasService, stateOfContainer, stateOfService} from '../host/agents.ts';
import {agentContainers, type Container, containerName, currentContainers, readContainers} from '../host/containers.ts';
import {directoriesOf} from '../host/plan.ts';
import {type HostRemoval, planContainerRemoval, planServiceRemoval} from '../host/removal.ts';
import {DROP_INS} from '../host/systemd.ts';
import {runSteps} from '../operations/run-steps.ts';
import type {Step} from '../operations/step.ts';
import type {KeptObject} from '../operations/uninstall-keeps.ts';
import type {HostTools} from '../ports/host-tools.ts';
import type {Prompter} from '../ports/prompter.ts';
import {hostPlanText, hostStatusText} from '../ui/host.ts';
import {accountText, callsText, stepText} from '../ui/plan.ts';
import type {Screen} from '../ui/theme.ts';
import type {App} from './app.ts';
import {confirmPlan} from './confirm-plan.ts';

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
  exitWith(code: ExitCode): void;
}

export interface ConfirmFlags {
  yes?: boolean;
  'dry-run'?: boolean;
}

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
  {app, show, isJson, screen, timeoutMs, exitWith}: HostContext,
): Promise<HostStatusDocument> {
  const deps = {host: app.host, signal: readSignal({timeoutMs}), now: app.now};
  const agents =
    target === 'docker'
      ? await Promise.all(currentContainers(await readContainers(deps), name).map((each) => stateOfContainer(each, deps)))
      : [await stateOfService(deps)].filter((each) => each !== undefined);
  if (agents.length === 0) throw noAgent(target, name);
  if (!isJson) show(hostStatusText(agents, screen));
  const isReady = areReady(agents);
  if (!isReady) exitWith(ExitCode.failed);
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
  if (target === 'docker') {
    const [all, isService] = await Promise.all([readContainers(deps), hasService(deps)]);
    const installed = agentContainers(all, name);
    const directories = [...new Set(installed.flatMap(directoriesOf))];
    const files = await Promise.all(directories.map(async (path) => [path, await app.files.list(path)] as const));
    return planContainerRemoval(installed, {
      others: all.filter((each) => !installed.includes(each)),
      hasService: isService,
      files: new Map(files),
    });
  }
  if ((await stateOfService(deps)) === undefined) return {steps: [], warnings: [], removes: [], keeps: []};
  const kinds = await Promise.all(DROP_INS.map((path) => app.files.kindOf(path)));
  return planServiceRemoval(
    DROP_INS.filter((_, index) => kinds[index] === 'file'),
    await otherContainers(deps),
  );
}

/** A machine without Docker has no containers; undefined if they cannot be read. */
async function otherContainers(deps: Parameters<typeof readContainers>[0]): Promise<Container[] | undefined> {
  try {
    return await readContainers(deps);
  } catch (error) {
    if (!(error instanceof ExpectedError)) throw error;
    return error.code === 'TOOL_NOT_FOUND' ? [] : undefined;
  }
}

/** The only agent container of this machine, or of a release. @throws ExpectedError */
export async function onlyContainer(name: string | undefined, host: HostTools, timeoutMs: number): Promise<string> {
  const found: Container[] = currentContainers(await readContainers({host, signal: readSignal({timeoutMs})}), name);
  const [only, ...others] = found.map(containerName);
  if (only === undefined) throw noAgent('docker', name);
  if (others.length === 0) return only;
  throw new ExpectedError(`This machine has ${found.length} agent containers.`, {
    code: 'USAGE',
    exit: ExitCode.usage,
    suggestions: [only, ...others].map((each) => `scalr-agent collect-logs --docker ${each}`),
  });
}

export const stepsOf = (steps: readonly Step[]) => steps.map(({id, title}) => ({id, title}));

/** Docker and systemd respond within this time. */
const MAX_READ_MS = 30_000;

export const readSignal = ({timeoutMs}: Pick<HostContext, 'timeoutMs'>): AbortSignal =>
  AbortSignal.timeout(Math.min(timeoutMs, MAX_READ_MS));

/** Only a plan that was shown can be confirmed. */
export async function confirm(text: string, {yes = false}: ConfirmFlags, {app, say, prompter}: HostContext): Promise<void> {
  if (yes) say(text);
  else app.stderr(text);
  await confirmPlan({isAccepted: yes, prompter});
}

type Deps = Parameters<typeof runSteps>[1] & {host: App['host']};

export async function withInterrupts<T>({app, say}: HostContext, work: (deps: Deps) => Promise<T>): Promise<T> {
  const interrupts = app.takeInterrupts();
  try {
    const {now, sleep, host} = app;
    return await work({processes: app.processes({}), interrupts, now, sleep, host, onStep: (...news) => say(stepText(...news))});
  } finally {
    interrupts.release();
  }
}

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
          : ['Run the command on the machine where the agent runs'],
    },
  );
