import {createHash} from 'node:crypto';
import {join} from 'node:path';
import {parseAnswers} from '../answers/answers-file.ts';
import {resolveAnswers} from '../answers/resolve.ts';
import {fromAnswers} from '../answers/sources.ts';
import {
  accountAnnotations,
  accountPoolIn,
  accountTokenIn,
  PREVIOUS_TOKEN,
} from '../cluster/release/account-token.ts';
import {PLACEHOLDER} from '../cluster/release/desired-release.ts';
import type {AccountRotation, TokenUsers} from '../extensions/account/account-rotation.ts';
import type {CreatedToken} from '../extensions/account/install-pool.ts';
import {stateOfService} from '../extensions/machine/agents.ts';
import {
  agentContainers,
  agentNameInScalr,
  currentContainers,
  readContainers,
} from '../extensions/machine/containers.ts';
import {ENV_FILE} from '../extensions/machine/files.ts';
import {directoriesOf, INSTALL_ANSWERS} from '../extensions/machine/plan.ts';
import {type ExpectedError, failed} from '../ground/errors.ts';
import type {Secret} from '../ground/secret.ts';
import {runSteps} from '../operations/run-steps.ts';
import type {Step} from '../operations/step.ts';
import {token, url} from '../settings/agent.ts';
import {stepsText} from '../ui/plan.ts';
import type {ConfirmFlags} from './flags.ts';
import {changeInDocker, noAgent, prepareInDocker, readSignal} from './host.ts';
import type {CommandContext, RunDeps} from './operate.ts';
import {type RotateResult, type Rotation, rotate} from './rotate-release.ts';

type Target = 'docker' | 'systemd';
type Head = {target: Target; release: string};
export type HostRotateResult = Head & Omit<RotateResult, 'release' | 'namespace' | 'context'>;

/** Agents on this machine, and the file that they read their token from. */
export interface HostTokens extends Head {
  users: TokenUsers;
  /** The file records the pool in comments with the names of the annotations of a Secret. */
  recorded: ReturnType<typeof accountPoolIn>;
  /** Address of Scalr, if it is known. */
  address: string | undefined;
  path: string;
  text: string;
  /** The steps from the current state to this token, or to the one in the file; `run` plans them again. @throws ExpectedError */
  plan(
    next: Secret | undefined,
  ): Promise<{steps: readonly Step[]; run(deps: RunDeps): Promise<unknown>}>;
}

/** Set until the service has restarted. */
const RESTART = 'scalr.io/restart';
const RECORD = /^# (scalr\.io\/[\w-]+)=(\S+)\r?\n/gm;
const TOKEN = /^SCALR_AGENT_TOKEN=(.*)$/m;

type Annotations = Readonly<Record<string, string>>;

const annotationsIn = (text: string): Annotations =>
  Object.fromEntries([...text.matchAll(RECORD)].map(([, key, value]) => [key, value]));

/** The file with another token, or with the same one, and with this record. */
function written(text: string, next: Secret | undefined, annotations: Annotations): string {
  const lines = text.replace(RECORD, '');
  const record = Object.entries(annotations).map(([key, value]) => `# ${key}=${value}\n`);
  return `${record.join('')}${next === undefined ? lines : lines.replace(TOKEN, () => `SCALR_AGENT_TOKEN=${next.reveal()}`)}`;
}

export const isTokenIn = ({text}: HostTokens, given: Secret): boolean =>
  TOKEN.exec(text)?.[1] === given.reveal();

/** Reads the agents and their token file. Read-only. @throws ExpectedError if another program manages the file */
export const readHostTokens = (
  target: Target,
  release: string,
  context: CommandContext,
): Promise<HostTokens> =>
  target === 'docker' ? tokensInDocker(release, context) : tokensOfService(context);

async function tokensInDocker(release: string, context: CommandContext): Promise<HostTokens> {
  const {app} = context;
  const {host, files} = app;
  const containers = () => readContainers({host, signal: readSignal(context)});
  const found = agentContainers(await containers(), release);
  const [directory] = found.flatMap(directoriesOf);
  if (found.length === 0) throw noAgent('docker', release);
  const answers = join(directory ?? '', INSTALL_ANSWERS);
  if (directory === undefined || (await files.kindOf(answers)) !== 'file')
    throw notRecorded(release, directory);
  const settings = await resolveAnswers(
    [fromAnswers(parseAnswers(String(await files.read(answers)), answers))],
    {files, now: app.now()},
  );
  const engine = await host.run(
    {tool: 'docker', args: ['info', '--format', '{{.ID}}']},
    {signal: readSignal(context)},
  );
  const prepare = (next: Secret | undefined) => {
    const desired =
      next === undefined ? settings : settings.with(token, {value: next, source: 'prompt'});
    return prepareInDocker(desired, directory, app, readSignal(context));
  };
  const owner =
    engine.error || engine.stdout.trim() === '' ? undefined : `engine=${engine.stdout.trim()}`;
  const agents = async () => currentContainers(await containers(), release).map(agentNameInScalr);
  const tokens = await tokensIn(
    join(directory, ENV_FILE),
    {target: 'docker', release},
    owner,
    agents,
    context,
  );
  return {
    ...tokens,
    users: {...tokens.users, stopped: found.map(agentNameInScalr)},
    address: settings.get(url),
    async plan(next) {
      const prepared = await prepare(next);
      const {steps, finish} = await prepare(undefined);
      if (next !== undefined && steps.length + finish.length > 0)
        throw notUpToDate(release, answers);
      return {
        steps: [...prepared.steps, ...prepared.finish],
        run: async (deps) => changeInDocker(await prepare(undefined), context, deps, true),
      };
    },
  };
}

async function tokensOfService(context: CommandContext): Promise<HostTokens> {
  const {app} = context;
  const deps = () => ({host: app.host, signal: readSignal(context), now: app.now});
  if ((await stateOfService(deps())) === undefined) throw noAgent('systemd', undefined);
  const read = async (path: string): Promise<string> =>
    (await app.files.kindOf(path)) === 'file' ? String(await app.files.read(path)) : '';
  const machine = (await read('/etc/machine-id')).trim();
  const path = `/etc/scalr-agent/${ENV_FILE}`;
  // The ID itself must not leave the machine: machine-id(5).
  const owner =
    machine === ''
      ? undefined
      : `machine=${createHash('sha256').update(`scalr-agent ${machine}`).digest('hex').slice(0, 16)}`;
  const agents = async () => {
    const [, name] = /^SCALR_AGENT_NAME=(\S+)$/m.exec(await read(path)) ?? [];
    return [name ?? (await read('/proc/sys/kernel/hostname')).trim()];
  };
  const found = await tokensIn(
    path,
    {target: 'systemd', release: 'scalr-agent'},
    owner,
    agents,
    context,
  );
  const step: Step = {
    id: 'restart',
    title: 'Restart service scalr-agent to load the new token',
    call: {tool: 'systemctl', args: ['restart', 'scalr-agent']},
  };
  return {
    ...found,
    address: /^SCALR_URL=(\S+)$/m.exec(found.text)?.[1],
    async plan(next) {
      const steps =
        next !== undefined || annotationsIn(found.text)[RESTART] !== undefined ? [step] : [];
      const run = async (running: RunDeps): Promise<void> => {
        await runSteps(steps, {...running, processes: app.processes({})});
        const state = await stateOfService(deps());
        if (state?.isRunning === false) throw notRunning(state.status);
        const text = await read(path);
        const {[RESTART]: _, ...kept} = annotationsIn(text);
        await app.files.write(path, written(text, undefined, kept), {isPrivate: true});
      };
      return {steps, run};
    },
  };
}

async function tokensIn(
  path: string,
  head: Head,
  owner: string | undefined,
  agents: TokenUsers['agents'],
  {app: {files}}: CommandContext,
): Promise<Omit<HostTokens, 'plan' | 'address'>> {
  const text = (await files.kindOf(path)) === 'file' ? String(await files.read(path)) : '';
  if (!TOKEN.test(text)) throw notOurs(path);
  const {release} = head;
  const record = {metadata: {name: path, annotations: annotationsIn(text)}};
  return {
    ...head,
    path,
    text,
    recorded: accountPoolIn(record),
    users: {
      attributes: {
        name: release,
        description: `scalr-agent-install ${owner ?? 'unknown'} release=${release}`,
        expiresInMinutes: null,
      },
      release,
      isIdentified: owner !== undefined,
      keepsNames: true,
      agents,

      current: accountTokenIn(record)?.tokenId,
      replaced: record.metadata.annotations[PREVIOUS_TOKEN],
    },
  };
}

/** Replaces the token of agents on this machine. `given` is a new token of the user. @throws ExpectedError */
export async function rotateOnHost(
  {target, release, users, recorded, path, plan}: HostTokens,
  {given, account}: {given: Secret | undefined; account: AccountRotation | undefined},
  flags: ConfirmFlags,
  context: CommandContext,
): Promise<HostRotateResult> {
  const {files} = context.app;
  const write = async (next: Secret | undefined, annotations: Annotations): Promise<void> =>
    files.write(path, written(String(await files.read(path)), next, annotations), {
      isPrivate: true,
    });
  const {steps, run} = await context.untilInterrupted(() =>
    plan(given ?? (account?.token === undefined ? undefined : PLACEHOLDER)),
  );
  const place = {
    Target: `${target === 'docker' ? 'Docker' : 'systemd'} on this machine`,
    Token: path,
  };
  const rotation: Rotation<Head> = {
    head: {target, release},
    users,
    account,
    record: path,
    steps,
    text: steps.length === 0 ? '' : `${stepsText(steps, place, context.screen)}\n`,
    async replace(deps, made: CreatedToken | undefined, keep) {
      const next = made?.text ?? given;
      const pool = made ?? recorded;
      if (next !== undefined) {
        const old = users.replaced ?? users.current;
        await write(next, {
          ...(pool === undefined
            ? {}
            : accountAnnotations({host: pool.host, poolId: pool.poolId, tokenId: made?.tokenId})),
          ...(old === undefined ? {} : {[PREVIOUS_TOKEN]: old}),
          ...(target === 'systemd' ? {[RESTART]: 'pending'} : {}),
        });
        // From here on, agents can use the token.
        keep();
      }
      await run(deps);
    },
    async forget() {
      const {[PREVIOUS_TOKEN]: _, ...kept} = annotationsIn(String(await files.read(path)));
      await write(undefined, kept);
    },
  };
  return rotate(rotation, flags, context);
}

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

const notOurs = (path: string): ExpectedError =>
  failed('OBJECT_NOT_OWNED', `${path} does not contain SCALR_AGENT_TOKEN, or is not readable.`, [
    'Run the command with sudo',
    'If another program manages the token, replace it there',
  ]);

const notRunning = (status: string): ExpectedError =>
  failed('NOT_READY', `Service scalr-agent does not run after its restart: ${status}.`, [
    'Check its log: journalctl --unit scalr-agent',
  ]);
