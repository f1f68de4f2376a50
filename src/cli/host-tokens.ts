import {createHash} from 'node:crypto';
import {join} from 'node:path';
import {parseAnswers} from '../answers/answers-file.ts';
import {resolveAnswers} from '../answers/resolve.ts';
import {fromAnswers} from '../answers/sources.ts';
import {PREVIOUS_TOKEN} from '../cluster/release/account-token.ts';

import type {TokenUsers} from '../extensions/account/account-rotation.ts';
import {stateOfService} from '../extensions/machine/agents.ts';
import {
  agentNameInScalr,
  type DockerContainer,
  readContainers,
} from '../extensions/machine/containers.ts';
import {ENV_FILE} from '../extensions/machine/env-file.ts';
import {directoriesOf, INSTALL_ANSWERS} from '../extensions/machine/plan.ts';
import {agentContainers, currentContainers} from '../extensions/machine/roles.ts';
import {type ExpectedError, failed} from '../ground/errors.ts';
import type {Secret} from '../ground/secret.ts';
import {runSteps} from '../operations/run-steps.ts';
import type {Step} from '../operations/step.ts';
import {token, url} from '../settings/agent.ts';
import type {Settings} from '../settings/settings.ts';
import type {App} from './app.ts';
import {type MachineTarget, noAgent, readSignal} from './host-agents.ts';
import {changeInDocker, prepareInDocker} from './install-docker.ts';
import type {CommandContext, RunDeps} from './operate.ts';
import {TokenFile} from './token-file.ts';

/** Agents on this machine, and the file that they read their token from. */
export interface HostTokens {
  target: MachineTarget;
  release: string;
  users: TokenUsers;
  file: TokenFile;
  /** Address of Scalr, if it is known. */
  address: string | undefined;
  /** The steps from the current state to this token, or to the one in the file; `run` plans them again. @throws ExpectedError */
  plan(next: Secret | undefined): Promise<HostRestart>;
}

interface HostRestart {
  steps: readonly Step[];
  run(deps: RunDeps): Promise<unknown>;
}

/** Annotation of the file until the service has restarted. */
export const RESTART = 'scalr.io/restart';

/** Reads the agents and their token file. Read-only. @throws ExpectedError if another program manages the file */
export const readHostTokens = (
  target: MachineTarget,
  release: string,
  context: CommandContext,
): Promise<HostTokens> =>
  target === 'docker' ? tokensInDocker(release, context) : tokensOfService(context);

async function tokensInDocker(release: string, context: CommandContext): Promise<HostTokens> {
  const {app} = context;
  const {host, files} = app;
  const read = () => readContainers({host, signal: readSignal(context)});
  const found = agentContainers(await read(), release);
  if (found.length === 0) throw noAgent('docker', release);
  const {directory, answers, settings} = await recordedSettings(release, found, app);
  const file = await TokenFile.read(join(directory, ENV_FILE), files);
  const owner = await engineId(context);
  const users = usersOf(release, file, owner, async () =>
    currentContainers(await read(), release).map(agentNameInScalr),
  );
  const prepare = (next?: Secret) => {
    const desired = next ? settings.with(token, {value: next, source: 'prompt'}) : settings;
    return prepareInDocker(desired, directory, app, readSignal(context));
  };
  return {
    target: 'docker',
    release,
    users: {...users, stopped: found.map(agentNameInScalr)},
    file,
    address: settings.get(url),
    async plan(next) {
      const {steps, finish} = await prepare(next);
      const current = next === undefined ? undefined : await prepare();
      if (current && current.steps.length + current.finish.length > 0)
        throw notUpToDate(release, answers);
      return {
        steps: [...steps, ...finish],
        run: async (deps) => changeInDocker(await prepare(), context, deps, true),
      };
    },
  };
}

/** What an install has recorded beside its containers. @throws ExpectedError if there is no record */
async function recordedSettings(
  release: string,
  containers: readonly DockerContainer[],
  {files, now}: App,
): Promise<{directory: string; answers: string; settings: Settings}> {
  const [directory] = containers.flatMap(directoriesOf);
  const answers = join(directory ?? '', INSTALL_ANSWERS);
  if (directory === undefined || (await files.kindOf(answers)) !== 'file')
    throw notRecorded(release, directory);
  const recorded = parseAnswers(String(await files.read(answers)), answers);
  const settings = await resolveAnswers([fromAnswers(recorded)], {files, now: now()});
  return {directory, answers, settings};
}

async function engineId(context: CommandContext): Promise<string | undefined> {
  const {error, stdout} = await context.app.host.run(
    {tool: 'docker', args: ['info', '--format', '{{.ID}}']},
    {signal: readSignal(context)},
  );
  const id = stdout.trim();
  return error || id === '' ? undefined : `engine=${id}`;
}

async function tokensOfService(context: CommandContext): Promise<HostTokens> {
  const {host, files, now} = context.app;
  const readState = () => stateOfService({host, signal: readSignal(context), now});
  if ((await readState()) === undefined) throw noAgent('systemd', undefined);
  const textOf = async (path: string): Promise<string> =>
    (await files.kindOf(path)) === 'file' ? String(await files.read(path)).trim() : '';
  const path = `/etc/scalr-agent/${ENV_FILE}`;
  const file = await TokenFile.read(path, files);
  const users = usersOf(
    'scalr-agent',
    file,
    machineId(await textOf('/etc/machine-id')),
    async () => {
      const current = await TokenFile.read(path, files);
      return [current.variable('SCALR_AGENT_NAME') ?? (await textOf('/proc/sys/kernel/hostname'))];
    },
  );
  const restart = async (steps: readonly Step[], deps: RunDeps): Promise<void> => {
    await runSteps(steps, {...deps, processes: context.app.processes({})});
    const state = await readState();
    if (state?.isRunning === false) throw notRunning(state.status);
    await file.forget(RESTART);
  };
  return {
    target: 'systemd',
    release: 'scalr-agent',
    users,
    file,
    address: file.variable('SCALR_URL'),
    async plan(next) {
      const isPending = next !== undefined || file.annotations[RESTART] !== undefined;
      const steps = isPending ? [RESTART_STEP] : [];
      return {steps, run: (deps) => restart(steps, deps)};
    },
  };
}

/** The ID itself must not leave the machine: machine-id(5). */
function machineId(id: string): string | undefined {
  if (id === '') return undefined;
  const hash = createHash('sha256').update(`scalr-agent ${id}`).digest('hex');
  return `machine=${hash.slice(0, 16)}`;
}

const RESTART_STEP: Step = {
  id: 'restart',
  title: 'Restart service scalr-agent to load the new token',
  call: {tool: 'systemctl', args: ['restart', 'scalr-agent']},
};

/** `owner` is the machine, if its ID is readable. */
const usersOf = (
  release: string,
  file: TokenFile,
  owner: string | undefined,
  agents: TokenUsers['agents'],
): TokenUsers => ({
  release,
  attributes: {
    name: release,
    description: `scalr-agent-install ${owner ?? 'unknown'} release=${release}`,
    expiresInMinutes: null,
  },
  isIdentified: owner !== undefined,
  keepsNames: true,
  agents,
  current: file.tokenId,
  replaced: file.annotations[PREVIOUS_TOKEN],
});

const INSTALL = 'scalr-agent install --target docker';

const notRecorded = (release: string, directory: string | undefined): ExpectedError =>
  failed(
    'UNSUPPORTED_SETTING',
    `The settings of release ${release} are not recorded${directory === undefined ? '' : ` in ${directory}`}.`,
    [
      `Run ${INSTALL} with its settings and the new token, then revoke the old token: scalr-agent pool token revoke`,
    ],
  );

const notUpToDate = (release: string, answers: string): ExpectedError =>
  failed(
    'CONFLICTING_SETTINGS',
    `The containers of release ${release} do not match its saved settings, so other settings would change too.`,
    [`Update them first: ${INSTALL} --answers ${answers}`],
  );

const notRunning = (status: string): ExpectedError =>
  failed('NOT_READY', `Service scalr-agent does not run after its restart: ${status}.`, [
    'Check its log: journalctl --unit scalr-agent',
  ]);
