import {hasService, stateOfService} from '../extensions/machine/agents.ts';
import {type DockerContainer, readContainers} from '../extensions/machine/containers.ts';
import {DROP_INS} from '../extensions/machine/files.ts';
import {directoriesOf} from '../extensions/machine/plan.ts';
import {
  type HostRemoval,
  planContainerRemoval,
  planServiceRemoval,
} from '../extensions/machine/removal.ts';
import {agentContainers} from '../extensions/machine/roles.ts';
import {onFailure} from '../ground/errors.ts';
import {warningOf} from '../ground/finding.ts';
import {runSteps} from '../operations/run-steps.ts';
import {accountText, stepsText} from '../ui/plan.ts';
import type {ConfirmFlags} from './flags.ts';
import {hostDeps, type MachineTarget} from './host-agents.ts';
import {type CommandContext, operate, type RunDeps, stepsOf} from './operate.ts';

export type HostUninstallResult = Awaited<ReturnType<typeof uninstallFromHost>>;

/** Removes the containers of a release, or the service of the Linux packages. @throws ExpectedError */
export async function uninstallFromHost(
  target: MachineTarget,
  name: string,
  flags: ConfirmFlags,
  context: CommandContext,
) {
  const {app, screen, say} = context;
  const isDocker = target === 'docker';
  const removal = isDocker ? containerRemoval(name, context) : serviceRemoval(context);
  const {steps, warnings, removes, keeps} = await removal;
  const result = {
    target,
    changed: steps.length > 0,
    steps: stepsOf(steps),
    removed: removes,
    kept: keeps,
  };
  if (!result.changed) {
    const what = isDocker ? `No container of release ${name}` : 'No service scalr-agent';
    say(`${what} on this machine. Nothing was changed.\n`);
    return result;
  }
  const what = isDocker ? `the agent containers of release ${name}` : 'service scalr-agent';
  const place = {Target: `${isDocker ? 'Docker' : 'systemd'} on this machine`};
  const operation = {
    title: `Removing ${what}`,
    steps,
    text: `${stepsText(steps, place, screen)}\n${accountText({removes, keeps}, false, screen)}\n`,
    warnings: warnings.map((message) => warningOf('RUNS', message)),
    run: async (deps: RunDeps) => {
      await runSteps(steps, {...deps, processes: app.processes({})});
      deps.done('The agent is removed');
      say(accountText({removes, keeps}, true, screen));
      return result;
    },
  };
  return operate(operation, result, flags, context);
}

async function containerRemoval(name: string, context: CommandContext): Promise<HostRemoval> {
  const {files} = context.app;
  const deps = hostDeps(context);
  const [all, isService] = await Promise.all([readContainers(deps), hasService(deps)]);
  const installed = agentContainers(all, name);
  const directories = new Map<string, readonly string[]>();
  for (const path of installed.flatMap(directoriesOf))
    directories.set(path, await files.list(path));
  return planContainerRemoval(installed, {
    others: all.filter((each) => !installed.includes(each)),
    hasService: isService,
    files: directories,
  });
}

async function serviceRemoval(context: CommandContext): Promise<HostRemoval> {
  const {files} = context.app;
  const deps = hostDeps(context);
  if ((await stateOfService(deps)) === undefined)
    return {steps: [], warnings: [], removes: [], keeps: []};
  const kinds = await Promise.all(DROP_INS.map((path) => files.kindOf(path)));
  return planServiceRemoval(
    DROP_INS.filter((_, index) => kinds[index] === 'file'),
    await otherContainers(deps),
  );
}

/** A machine without Docker has no containers; undefined if they cannot be read. */
const otherContainers = (
  deps: ReturnType<typeof hostDeps>,
): Promise<DockerContainer[] | undefined> =>
  readContainers(deps).catch(onFailure(({code}) => (code === 'TOOL_NOT_FOUND' ? [] : undefined)));
