import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {execa} from 'execa';
import {stringify} from 'yaml';
import type {ChartName} from '../../src/charts/releases/chart-name.ts';
import {directoryOf, REAL} from '../cluster/helm/charts-under-test.ts';
import {findHelm} from '../cluster/helm/find-helm.ts';
import {accountWith} from '../control-plane/accounts.ts';
import {
  type Fault,
  type FaultyApi,
  faultyApi,
  type InjectedFault,
} from '../control-plane/faulty-api.ts';
import {findKubectl} from '../control-plane/kubectl.ts';
import {claim} from '../control-plane/objects.ts';
import type {Workplace} from '../control-plane/workplace.ts';
import {PROGRAM} from '../package/built.ts';
import type {PrintedCommand} from '../support/commands-in.ts';
import {installPlace} from '../support/install-place.ts';
import {startProgram} from '../support/killed-run.ts';
import {failureOf, isTried} from '../support/tried-command.ts';
import {isRejectedIdentity, useOtherContext, writeContexts, writeRejected} from './clusters.ts';
import {type Get, readNamespace} from './kubernetes-state.ts';
import {nextStep} from './kubernetes-steps.ts';
import {type Pod, podOf} from './pod.ts';
import {printedIn, refusalOfOurs} from './printed.ts';
import {type Disturbance, flagOf, type Mode, type Step, stepOf, type World} from './sequence.ts';
import {documentOf, foreignUser, type Offer, type Report, type State} from './things.ts';

/** `OPERATOR_HELM=3` plays with Helm 3. */
const helms = await findHelm();
const {path: helm} = helms.find(({major}) => String(major) === process.env['OPERATOR_HELM']) ??
  helms[0] ?? {path: 'helm'};
const kubectl = await findKubectl();
const scratch = mkdtempSync(join(tmpdir(), 'operator-'));
process.once('exit', () => rmSync(scratch, {recursive: true, force: true}));

const ROLES: Readonly<Record<string, 'admin' | 'edit' | 'view'>> = {
  'namespace admin': 'admin',
  editor: 'edit',
  viewer: 'view',
};
const directories = new Map<string, Promise<string>>();

/** Written once, because sequences that run at the same time read it. */
export function chartDirectory(chart: ChartName, version: string): Promise<string> {
  const directory =
    directories.get(`${chart}@${version}`) ?? directoryOf({chart, version}, scratch);
  directories.set(`${chart}@${version}`, directory);
  return directory;
}

/** Printed commands that only read are tried once. */
const read = new Map<string, ReturnType<typeof failureOf>>();

/** A write that changes something. */
const WRITE = /^(?!.*(?:dryRun|authorization\.k8s\.io)).*$/;
const WRITES = 'POST|PATCH|PUT|DELETE';
const ANY = /./;
const CHART = /^(agent-\w+)@(\d\S+)$/;

/** A cluster, and how its state is read without our program. */
export interface OperatedCluster {
  kubeconfig: string;
  get: Get;
}

/** A new namespace, where people of several roles work; `other` has the same namespace with releases of the same names. */
export async function kubernetesWorld(
  {kubeconfig: admin, get}: OperatedCluster,
  other?: OperatedCluster,
): Promise<World> {
  const place = await installPlace(admin);
  const {namespace} = place;
  const file = join(scratch, namespace);
  const kubeconfig = await writeContexts(`${file}.kubeconfig`, admin, other?.kubeconfig);
  if (other !== undefined) await installNamesakes(other, namespace);
  let pod: Promise<Pod> | undefined;
  const accounts = new Map<string, Promise<string>>();
  const kubeconfigOf = async (role: string): Promise<string> => {
    if (isRejectedIdentity(role)) return writeRejected(`${file}-${role}`, kubeconfig, role);
    const built = ROLES[role];
    if (built === undefined) return kubeconfig;
    if (!accounts.has(role)) accounts.set(role, accountWith(built, place));
    return accounts.get(role) as Promise<string>;
  };
  const where = (path: string): string[] => ['--namespace', namespace, '--kubeconfig', path];
  const printed = new Set<string>();

  /** Charts by name, and what every command needs in a test. */
  const argumentsOf = async (step: Step, mode: Mode): Promise<string[]> => {
    const words = step.args.map((word) => {
      const [, chart, version] = CHART.exec(word) ?? [];
      return chart === undefined ? word : chartDirectory(chart as ChartName, version as string);
    });
    const args = (await Promise.all(words)).map((word) => word.replace('NAMESPACE', namespace));
    return step.tool === 'scalr-agent' ? [...args, ...answersTo(step, mode)] : args;
  };

  const run = async (step: Step, mode: Mode): Promise<Report> => {
    const args = await argumentsOf(step, mode);
    const path = await kubeconfigOf(mode === 'resume' ? 'administrator' : step.role);
    if (step.tool !== 'scalr-agent') return person(step, args, path);
    if (step.killedAfter !== undefined && mode === 'run')
      return killed(step, step.killedAfter, args, place);
    const words = [process.execPath, PROGRAM, ...args, '--helm', helm, '--kubectl', kubectl];
    if (step.role === 'in a pod' && mode !== 'resume') {
      pod ??= podOf(place, `${file}-pod`);
      const {command, env} = await pod;
      return program([...command, ...words, '--namespace', namespace], {...step.env, ...env});
    }
    if (step.disturbance === undefined || mode !== 'run')
      return program([...words, ...where(path)], step.env);
    const api = await faultyApi(admin);
    const through = await writeContexts(`${file}.disturbed`, api.kubeconfig, other?.kubeconfig);
    const fault = await disturb(api, step.disturbance, through);
    const report = await program([...words, ...where(through)], step.env);
    fault.end();
    api.stop();
    return report;
  };

  const person = async ({tool}: Step, args: readonly string[], path: string): Promise<Report> => {
    const [, name] = /^pvc\/(.*)$/.exec(flagOf({args}, '-f') ?? '') ?? [];
    const given = args.map((word) => (word === `pvc/${name}` ? '-' : word));
    const {
      exitCode: exit = 1,
      stdout,
      stderr,
    } = await execa(tool === 'helm' ? helm : kubectl, [...given, ...where(path)], {
      input: name === undefined ? '' : stringify(claim(name)),
      reject: false,
      timeout: 60_000,
    });
    return {exit, stdout, stderr};
  };

  return {
    read: () => readNamespace(namespace, get),
    readOther: async () => (other === undefined ? new Map() : readNamespace(namespace, other.get)),
    run,
    async end() {
      if (REAL === undefined) return;
      const releases = [...(await readNamespace(namespace, get)).keys()].filter((name) =>
        name.startsWith('release '),
      );
      // The released charts have objects outside of namespaces.
      for (const name of releases)
        await run(stepOf(`helm uninstall ${name.slice('release '.length)}`), 'run');
    },
    next: (state, dice) => nextStep(state, [...printed], dice),
    async offersIn(report, state) {
      const commands = printedIn(report);
      for (const {text} of commands) if (REPEATED.test(text)) printed.add(typed(text, namespace));
      return (await Promise.all(commands.map((each) => offerOf(each, state, run)))).flat();
    },
    async refusedIn(report) {
      const reasons = printedIn(report).map((each) => {
        if (each.tool === 'scalr-agent') return refusalOfOurs(each);
        if (!isTried(each)) return undefined;
        if (REPEATED.test(each.text)) return failureOf(each, kubeconfig);
        const words = typed(each.text, namespace);
        if (!read.has(words)) read.set(words, failureOf(each, kubeconfig));
        return read.get(words);
      });
      return (await Promise.all(reasons)).flatMap((each) => each ?? []);
    },
  };
}

async function program(
  [file = '', ...args]: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Promise<Report> {
  const {
    exitCode: exit = 1,
    stdout,
    stderr,
  } = await execa(file, args, {cwd: scratch, env, stdin: 'ignore', reject: false});
  return {exit, stdout, stderr};
}

/** Releases of another cluster that have the names of those of the operator. */
async function installNamesakes({kubeconfig}: OperatedCluster, namespace: string): Promise<void> {
  await installPlace(kubeconfig, namespace);
  const chart = await chartDirectory('agent-local', '0.6.5');
  const set = 'agent.url=https://prod.scalr.io,agent.tokenExistingSecret.name=pool';
  for (const name of ['scalr-agent', 'b'])
    await execa(helm, [
      'install',
      name,
      chart,
      '--set',
      set,
      '--namespace',
      namespace,
      '--kubeconfig',
      kubeconfig,
    ]);
}

const FAULTS: Readonly<Record<Exclude<Disturbance['what'], 'use-context prod'>, Fault>> = {
  cut: 'cut',
  slow: {delayMs: 3000},
  'login page': 'login-page',
};

/** Lets the requests before it pass. */
async function disturb(
  api: FaultyApi,
  {what, request, isWrite}: Disturbance,
  kubeconfig: string,
): Promise<InjectedFault> {
  const methods = isWrite ? WRITES : '*';
  const path = isWrite ? WRITE : ANY;
  if (request > 1) api.inject(methods, path, {delayMs: 0}, request - 1);
  if (what !== 'use-context prod') return api.inject(methods, path, FAULTS[what], 1);
  const held = api.inject(methods, path, 'stall', 1);
  void held.hit.then(async () => {
    await useOtherContext(kubectl, kubeconfig);
    held.end();
  });
  return held;
}

/** Flags that a test adds to what people type. */
function answersTo(step: Step, mode: Mode): string[] {
  const [command = ''] = step.args;
  if (command === 'status' || step.args.includes('--dry-run'))
    return ['--json', '--timeout', '60s'];
  const isConfirmed =
    command === 'debug' ? [] : ['--confirm', flagOf(step, '--release') ?? 'scalr-agent'];
  const ends =
    command === 'install' || command === 'upgrade' || command === 'debug' ? ['--take-over'] : [];
  const mutes = mode === 'plan' ? ['--dry-run'] : ['--yes', ...isConfirmed];
  return [...mutes, ...(mode === 'resume' ? ends : []), '--json', '--timeout', '60s'];
}

/** Kills the program and its helm after the API server has executed this write. */
async function killed(
  {env}: Step,
  write: number,
  args: readonly string[],
  place: Workplace,
): Promise<Report> {
  const api = await faultyApi(place.kubeconfig);
  if (write > 1) api.inject(WRITES, WRITE, {delayMs: 0}, write - 1);
  const injected = api.inject(WRITES, WRITE, 'lose', 1);
  const [command = '', ...rest] = args;
  const run = startProgram(command, place, api, helm, rest, env);
  const ended = await Promise.race([injected.hit.then(() => undefined), run.ended]);
  if (ended !== undefined)
    return {exit: ended.exitCode ?? 1, stdout: ended.stdout, stderr: ended.stderr};
  run.signal('SIGKILL');
  try {
    process.kill(run.helmPid(), 'SIGKILL');
  } catch {
    // Helm has not started, or has ended.
  }
  const {stdout, stderr} = await run.ended;
  api.stop();
  return {exit: 'killed', stdout, stderr};
}

/** Printed commands that people may follow; tests with other namespaces need the CRDs. */
const REPEATED =
  /^(?:scalr-agent .*--purge|kubectl (?:delete|scale) (?!customresourcedefinition|namespace))/;

/** A printed command as a person would type it in the namespace. */
const typed = (text: string, namespace: string): string =>
  text
    .replace(` --namespace ${namespace}`, '')
    .replace(/ --kubeconfig \S+/, '')
    .replace(/ --request-timeout=\S+/, '');

const CLASSES: Readonly<Record<string, RegExp>> = {
  claims: /^(?:PVC|PersistentVolume) /,
  secrets: /^Secret /,
};
const KINDS: Readonly<Record<string, string>> = {
  persistentvolumeclaim: 'PVC',
  persistentvolume: 'PersistentVolume',
  secret: 'Secret',
};

/** What a printed command deletes, from its dry run if somebody else uses something that it could delete. */
async function offerOf(
  {text, tool, args}: PrintedCommand,
  state: State,
  run: World['run'],
): Promise<Offer[]> {
  const [command, kind = '', name] = args;
  if (tool === 'kubectl' && command === 'delete' && KINDS[kind])
    return [{command: text, release: undefined, deletes: [`${KINDS[kind]} ${name}`]}];
  const [, purged = ''] = /^scalr-agent uninstall .*--purge=(\w+)/.exec(text) ?? [];
  const release = flagOf({args}, '--release') ?? 'scalr-agent';
  const isRisky = [...state.keys()].some(
    (each) => CLASSES[purged]?.test(each) && foreignUser(each, state, new Set([release])),
  );
  if (!isRisky) return [];
  const step: Step = {
    role: 'administrator',
    env: {},
    tool,
    args: ['uninstall', '--release', release, `--purge=${purged}`],
  };
  const {removed = []} = documentOf(await run(step, 'plan')) ?? {};
  const deletes = removed.flatMap(
    (each) => /((?:PVC|Secret|PersistentVolume) [^ ,]+)/.exec(each)?.[1] ?? [],
  );
  return [{command: text, release, deletes}];
}
