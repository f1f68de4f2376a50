import {createHash} from 'node:crypto';
import {existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {execa} from 'execa';
import type {Engine} from '../engines/docker.ts';
import {PROGRAM} from '../package/built.ts';
import type {PrintedCommand} from '../support/commands-in.ts';
import {nextStep} from './docker-steps.ts';
import {printedIn, refusalOfOurs} from './printed.ts';
import type {Mode, Step, World} from './sequence.ts';
import {documentOf, type Report, type State, stateOf, type Thing} from './things.ts';

interface Container {
  Id: string;
  Name: string;
  Config: {Image: string; Env: string[]; Labels: Record<string, string> | null};
  HostConfig: {Memory: number; NanoCpus: number; RestartPolicy: unknown};
  Mounts: {Source: string}[];
  State: {Running: boolean};
}

const RELEASE = 'io.scalr.agent.release';
/** Subcommands that change something. */
const WRITES = 'run|create|start|stop|rm|rename|pull|update|kill';

/** Counts the calls that change something, and ends the program that makes the call of this number, after the call. */
const shim = (docker: string, folder: string): string => `#!/bin/sh
case "$1" in --context|--host) shift 2 ;; esac
case "$1" in ${WRITES})
  count=$(($(cat '${folder}/count' 2>/dev/null || echo 0) + 1)); echo $count >'${folder}/count'
  if [ "$count" = "$KILLED_AFTER" ]; then '${docker}' "$@"; kill -9 $PPID; exit; fi
esac
exec '${docker}' "$@"
`;

/** A machine without containers, with a real Docker Engine. */
export async function dockerWorld({docker, env, folder}: Engine): Promise<World> {
  const left = await docker('ps', '--all', '--quiet');
  if (left !== '') await docker('rm', '--force', ...left.split('\n'));
  const cwd = mkdtempSync(join(folder, 'work-'));
  const {stdout: real} = await execa('sh', ['-c', 'command -v docker']);
  writeFileSync(join(cwd, 'docker'), shim(real, cwd), {mode: 0o755});
  const common = {
    cwd,
    env: {...env, HOME: cwd, PATH: `${cwd}:${process.env['PATH']}`},
    stdin: 'ignore',
    reject: false,
  } as const;

  const run = async (step: Step, mode: Mode): Promise<Report> => {
    rmSync(join(cwd, 'count'), {force: true});
    const kill =
      mode === 'run' && step.killedAfter !== undefined
        ? {KILLED_AFTER: String(step.killedAfter)}
        : {};
    const variables = {...common.env, ...step.env, ...kill};
    const [file, ...args] =
      step.tool === 'scalr-agent'
        ? [
            process.execPath,
            PROGRAM,
            ...step.args.map((word) => word.replace('FOLDER', cwd)),
            ...answersTo(step, mode),
          ]
        : [step.tool, ...step.args];
    const {
      exitCode: exit = 'killed',
      stdout,
      stderr,
    } = await execa(file as string, args, {...common, env: variables});
    return {exit, stdout, stderr};
  };

  const owners = new Map<string, Set<string>>();
  const read = async (): Promise<State> => {
    const ids = await docker('ps', '--all', '--quiet', '--no-trunc');
    const containers: Container[] =
      ids === '' ? [] : JSON.parse(await docker('inspect', ...ids.split('\n')));
    return stateOf([
      ...containers.map(containerOf),
      ...directoriesOf(containers, owners),
      ...filesOf(cwd),
    ]);
  };

  return {
    read,
    run,
    next: nextStep,
    end: async () => undefined,
    async offersIn(report) {
      const texts = [report.stderr, ...(documentOf(report)?.kept ?? []).map(({how}) => how)].join(
        '\n',
      );
      const release = documentOf(report)?.release ?? releaseOf(report);
      return [...texts.matchAll(/(?:sudo )?rm -r (\S+)/g)].map(([command, path]) => ({
        command,
        release,
        deletes: [`directory ${path}`],
      }));
    },
    async refusedIn(report) {
      const reasons = printedIn(report).map((each) =>
        each.tool === 'scalr-agent' ? refusalOfOurs(each) : refusalOfDocker(each, common),
      );
      return (await Promise.all(reasons)).flatMap((each) => each ?? []);
    },
  };
}

/** Of an uninstall, which does not name its release. */
const releaseOf = (report: Report): string | undefined =>
  /container ([a-z]+)/.exec(documentOf(report)?.removed?.join() ?? '')?.[1];

function answersTo(step: Step, mode: Mode): string[] {
  if (step.args[0] === 'status' || step.args.includes('--dry-run'))
    return ['--json', '--timeout', '60s'];
  return [mode === 'plan' ? '--dry-run' : '--yes', '--json', '--timeout', '60s'];
}

async function refusalOfDocker(
  {tool, args, text}: PrintedCommand,
  options: object,
): Promise<string | undefined> {
  if (tool !== 'docker') return undefined;
  const isRead = /^docker (?:ps|inspect|image inspect|container inspect|logs (?!--follow))/.test(
    text,
  );
  const {stderr = ''} = await execa(tool, isRead ? args : [...args, '--help'], {
    ...options,
    stdin: 'ignore',
    timeout: 20_000,
    reject: false,
  });
  const [problem] =
    /unknown (?:shorthand )?flag.*|is not a docker command|No such .*/.exec(String(stderr)) ?? [];
  return problem === undefined ? undefined : `${text}: ${problem}`;
}

const containerOf = ({Id, Name, Config, HostConfig, Mounts, State}: Container): Thing => {
  const {Memory, NanoCpus, RestartPolicy} = HostConfig;
  const template = JSON.stringify([
    Config.Image,
    Config.Env.toSorted(),
    Config.Labels,
    Memory,
    NanoCpus,
    RestartPolicy,
  ]);
  const count = State.Running ? 1 : 0;
  return {
    name: `container ${Name.slice(1)}`,
    uid: Id,
    content: `${template} ${State.Running ? 'runs' : 'is stopped'}`,
    owner: Config.Labels?.[RELEASE],
    uses: Mounts.map(({Source}) => `directory ${Source}`),
    isLeaving: false,
    agent: {template, desired: count, ready: count},
  };
};

/** Directories of the machine that containers mount or have mounted; `owners` remembers the releases. */
function directoriesOf(
  containers: readonly Container[],
  owners: Map<string, Set<string>>,
): Thing[] {
  for (const {Mounts, Config} of containers) {
    for (const {Source} of Mounts)
      owners.set(Source, (owners.get(Source) ?? new Set()).add(Config.Labels?.[RELEASE] ?? ''));
  }
  return [...owners].flatMap(([path, releases]) => {
    const owner = releases.size === 1 ? [...releases][0] || undefined : undefined;
    return existsSync(path)
      ? [{name: `directory ${path}`, uid: path, content: '', owner, uses: [], isLeaving: false}]
      : [];
  });
}

/** Files of the installs; each release has a directory of its name. */
const filesOf = (cwd: string): Thing[] =>
  readdirSync(cwd, {withFileTypes: true})
    .filter((each) => each.isDirectory())
    .flatMap(({name: owner}) =>
      readdirSync(join(cwd, owner)).map((file) => {
        const content = createHash('sha256')
          .update(readFileSync(join(cwd, owner, file)))
          .digest('hex');
        return {
          name: `file ${owner}/${file}`,
          uid: file,
          content,
          data: content,
          owner,
          uses: [],
          isLeaving: false,
        };
      }),
    );
