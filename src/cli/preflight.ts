import {
  type CheckDocument,
  type CheckReport,
  checkDocument,
  checksWith,
  runChecks,
} from '../checks/preflight/checks/check.ts';
import type {PreflightContext} from '../checks/preflight/facts/context.ts';
import {prepareProbe} from '../checks/preflight/probe/prepare-probe.ts';
import {runProbe} from '../checks/preflight/probe/run-probe.ts';
import type {ReadingDeps} from '../checks/preflight/read-context.ts';
import {cachedAccess} from '../cluster/kubernetes/with-retries.ts';
import {listAgents, readLimits} from '../extensions/account/account.ts';
import {findPool} from '../extensions/account/find-object.ts';
import {MACHINE_CHECKS} from '../extensions/machine/preflight/machine-checks.ts';
import {readMachine} from '../extensions/machine/preflight/machine-context.ts';
import {ExitCode, failed, onFailure} from '../ground/errors.ts';
import {type Fact, known, unknown} from '../ground/fact.ts';
import {url} from '../settings/agent.ts';
import type {Settings} from '../settings/settings.ts';
import {checksText, probeText} from '../ui/checks.ts';
import {optionalAccount} from './account.ts';
import {CONNECTION_FLAGS} from './connection-flags.ts';
import type {MachineTarget} from './host-agents.ts';
import type {CommandContext} from './operate.ts';

export const KUBERNETES_ONLY_PREFLIGHT_FLAGS = [
  'probe',
  'pool',
  'account',
  'dry-run',
  'from-cluster',
  ...CONNECTION_FLAGS,
];

/** In a cluster, only the test pod requests the URLs. @throws ExpectedError */
export function requireProbe(flags: {
  probe?: boolean;
  'probe-url'?: readonly string[] | undefined;
}): void {
  if (flags.probe || flags['probe-url'] === undefined) return;
  throw failed('USAGE', '--probe-url requires --probe.', ['Add --probe']);
}

export interface CheckFlags {
  strict?: boolean;
  quiet?: boolean;
  verbose?: boolean;
}

/** Shows the results and sets the exit code; returns them as --json prints them. */
export function reportChecks(
  checks: readonly CheckReport[],
  flags: CheckFlags,
  {
    isJson,
    show,
    resultScreen,
    exitWith,
  }: Pick<CommandContext, 'isJson' | 'show' | 'resultScreen' | 'exitWith'>,
): CheckDocument[] {
  if (!isJson) show(checksText(checks, resultScreen, detailOf(flags)));
  if (checksWith(checks, 'error').length > 0) exitWith(ExitCode.findings);
  else if (flags.strict && checksWith(checks, 'warning', 'unknown').length > 0)
    exitWith(ExitCode.onlyWarnings);
  return checks.map(checkDocument);
}

function detailOf({quiet, verbose}: CheckFlags): 'problems' | 'all' | 'folded' {
  if (quiet) return 'problems';
  return verbose ? 'all' : 'folded';
}

export type MachinePreflight = Awaited<ReturnType<typeof preflightMachine>>;

/** Checks this machine for an agent in Docker or as a service. Read-only. @throws ExpectedError for settings that the target does not support */
export async function preflightMachine(
  settings: Settings,
  machine: {target: MachineTarget; urls: readonly string[]},
  flags: CheckFlags,
  context: CommandContext,
) {
  const {app, timeoutMs} = context;
  const {host, files, connections} = app;
  const found = await context.untilInterrupted(() =>
    readMachine(settings, machine, {
      host,
      files,
      connections,
      signal: AbortSignal.timeout(timeoutMs),
    }),
  );
  // Without a token too: nothing is installed.
  context.report(found.agent.warnings.filter(({code}) => code !== 'NO_TOKEN'));
  return {
    checks: reportChecks(runChecks(MACHINE_CHECKS, found), flags, context),
    facts: found.facts,
  };
}

/** What the checks of the Scalr account read. Undefined without a token for the account of the agent. @throws ExpectedError for an unusable token */
export async function readAccountFacts(
  settings: Settings,
  pool: string | undefined,
  context: CommandContext,
): Promise<PreflightContext['account']> {
  const address = settings.get(url);
  const client =
    address === undefined ? undefined : await optionalAccount(address, settings, context);
  if (client === undefined) return undefined;
  const {host} = client;
  const read = <T>(reading: Promise<T>): Promise<Fact<T>> =>
    reading
      .then((value) => known(value, `Scalr API of ${host}`))
      .catch(onFailure(({message}) => unknown('failed', message)));
  const online = async (): Promise<string[]> =>
    (await listAgents(client)).filter(({status}) => status !== 'offline').map(({name}) => name);
  const [limits, agents, found] = await Promise.all([
    read(readLimits(client)),
    read(online()),
    pool === undefined ? undefined : read(findPool(client, pool)),
  ]);
  return {host, limits, agents, pool: found};
}

/** Creates the test pod and deletes it, unless it is only printed. */
export async function probeFromPod(
  context: PreflightContext,
  {end, ...deps}: ReadingDeps & {end: AbortSignal},
  {isDry, ...limits}: {seconds: number; urls: readonly string[]; isDry: boolean},
  {app, isJson, say}: CommandContext,
): Promise<NonNullable<PreflightContext['probe']>> {
  const plan = await prepareProbe(
    context,
    {...cachedAccess(deps, deps), signal: deps.signal},
    limits,
  );
  if (!('objects' in plan)) return plan;
  if (isDry) {
    const text = probeText(plan);
    if (isJson) say(text);
    else app.stdout(text);
    return {because: '--dry-run', isDry: true};
  }
  say(
    `Creating the test pod ${plan.pod} in namespace ${context.name.kubeTarget.namespace}; it is deleted afterwards.\n`,
  );
  const interrupts = app.handleInterrupts();
  try {
    return {plan, seen: await runProbe(plan, context.name, {...deps, interrupts, signal: end})};
  } finally {
    interrupts.release();
  }
}
