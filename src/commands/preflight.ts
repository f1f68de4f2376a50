import * as Flags from '@oclif/core/flags';
import {type CheckDocument, runChecks} from '../checks/preflight/checks/check.ts';
import {readPreflightContext} from '../checks/preflight/read-context.ts';
import {CHECKS, unverified} from '../checks/preflight/run-preflight.ts';
import {accountFlag} from '../cli/account.ts';
import {BaseCommand} from '../cli/base-command.ts';
import {
  type ClusterFlags,
  connectionFlags,
  noFromClusterFlag,
  releaseName,
  timeoutOf,
} from '../cli/connection-flags.ts';
import {durationOf, explicitFlags, probeUrls, refuseWith} from '../cli/flag-values.ts';
import {answersFlag, type Parsed, repeated, type SharedFlags} from '../cli/flags.ts';
import {generateConfirmed, onlyRead} from '../cli/generate.ts';
import {checksOfFiles} from '../cli/local-inputs.ts';
import {
  type CheckFlags,
  KUBERNETES_ONLY_PREFLIGHT_FLAGS,
  type MachinePreflight,
  preflightMachine,
  probeFromPod,
  readAccountFacts,
  reportChecks,
  requireProbe,
} from '../cli/preflight.ts';
import {settingFlags, targetFlag} from '../cli/setting-flags.ts';
import type {ClusterAccess} from '../cluster/helm/releases.ts';
import {cachedAccess} from '../cluster/kubernetes/with-retries.ts';
import type {ClusterFacts} from '../cluster/platform/cluster-facts.ts';
import {desiredRelease} from '../cluster/release/desired-release.ts';
import type {ClusterTarget} from '../ground/command-line.ts';
import {onFailure} from '../ground/errors.ts';
import {remediesOf} from '../ground/finding.ts';
import {url} from '../settings/agent.ts';
import {catalog} from '../settings/catalog.ts';
import {TARGETS} from '../settings/release.ts';
import {valuesDocument} from '../values/document.ts';
import type {GeneratedValues} from '../values/generate.ts';

const READ_TIMEOUT_MS = 30_000;

interface Result {
  checks: CheckDocument[];
  /** Facts about the cluster; values of releases are masked. */
  facts: ClusterFacts;
}

export default class Preflight extends BaseCommand<Result | MachinePreflight> {
  static override summary = 'Check cluster, tools and permissions before an install.';
  static override description =
    'Read-only, except for --probe, which creates a test pod and deletes it afterwards, even after Ctrl-C (--dry-run prints the pod). Accepts every setting of "install"; none is required. Exits with 3 when the install would fail. Checks that take longer than --timeout (default 30s, with --probe 3m) have no result. With --target docker or systemd, checks this machine.';
  static override examples = [
    '<%= config.bin %> <%= command.id %> --chart agent-job --namespace scalr-agent',
    '<%= config.bin %> <%= command.id %> --answers answers.yaml --strict --json',
    '<%= config.bin %> <%= command.id %> --answers answers.yaml --probe --timeout 5m',
    '<%= config.bin %> <%= command.id %> --target docker --url https://acme.scalr.io',
  ];
  static override flags = {
    strict: Flags.boolean({
      summary: 'Exit with 4 when there are only warnings, or a check has no result.',
    }),
    probe: Flags.boolean({
      summary:
        'Create a test pod with the placement of runs. It checks network access, the metadata service and volumes.',
    }),
    'probe-url': Flags.string({
      summary:
        'Additional URL that the --probe test pod, or this machine, connects to, for example a VCS host. Can be repeated.',
      helpValue: '<URL>',
      ...repeated,
    }),
    pool: Flags.string({
      summary: 'Agent pool whose type is checked, by name or ID.',
      helpValue: '<NAME>',
    }),
    ...accountFlag('Check the Scalr account too, if a token for it is found.'),
    ...targetFlag,
    ...noFromClusterFlag,
    'dry-run': Flags.boolean({
      summary: 'Print the --probe test pod without creating it.',
      dependsOn: ['probe'],
    }),
    ...answersFlag,
    ...settingFlags(catalog),
    ...connectionFlags,
    timeout: {
      ...connectionFlags.timeout,
      summary: 'Time for all checks. Default: 30s, with --probe 3m.',
    },
  };

  protected override readonly targets = TARGETS;
  #cached: ClusterAccess | undefined;

  override async run(): Promise<Result | MachinePreflight> {
    const {flags, metadata} = await this.parse(Preflight);
    await this.#requireInputs(flags);
    const urls = probeUrls(flags['probe-url']);
    const timeoutMs = durationOf('--timeout', flags.timeout ?? (flags.probe ? '3m' : '30s'));
    const target = await this.targetFrom(flags);
    if (target === 'kubernetes') {
      requireProbe(flags);
      return this.#checkCluster(flags, new Deadlines(timeoutMs, flags.probe ?? false), urls);
    }
    const explicit = explicitFlags(flags, metadata);
    refuseWith(`target ${target}`, KUBERNETES_ONLY_PREFLIGHT_FLAGS, explicit);
    const settings = await this.settingsFrom(flags, {optional: [url]});
    const context = {...this.context(flags), timeoutMs};
    return preflightMachine(settings, {target, urls}, flags, context);
  }

  async #checkCluster(
    flags: PreflightFlags,
    deadlines: Deadlines,
    urls: readonly string[],
  ): Promise<Result> {
    const generated = await this.#generate(flags, deadlines);
    const name = releaseName(await this.pinned(flags), generated.settings);
    const {now, sleep, registries} = this.app;
    const access = await this.accessTo(name.kubeTarget, flags);
    const cached = await this.#cachedAccess(name.kubeTarget, flags, deadlines);
    const {timeoutMs, end, signal, versionSignal} = deadlines;
    const deps = {...access, now, sleep, registries, signal, versionSignal};
    const context = this.context(flags);
    const asking = flags.account
      ? readAccountFacts(generated.settings, flags.pool, {...context, timeoutMs})
      : undefined;
    const desired = desiredRelease(generated, valuesDocument(generated), name);
    const found = await readPreflightContext(generated, desired, {...deps, ...cached});
    const read = {...found, account: await asking};
    const probing = {seconds: timeoutMs / 1000, urls, isDry: flags['dry-run'] ?? false};
    const probe = flags.probe
      ? await probeFromPod(read, {...deps, end}, probing, context)
      : undefined;
    const checks = runChecks(CHECKS, probe ? {...read, probe} : read);
    this.report(unverified(generated.warnings, checks));
    return {checks: reportChecks(checks, flags, context), facts: factsDocument(read.facts)};
  }

  /** The values, with unset settings from the cluster if it answers. */
  async #generate(flags: PreflightFlags, deadlines: Deadlines): Promise<GeneratedValues> {
    const cached = async (kubeTarget: ClusterTarget) => {
      const access = await this.#cachedAccess(kubeTarget, flags, deadlines);
      return cachedAccess(access, {signal: deadlines.early, sleep: this.app.sleep});
    };
    const cluster = await this.openAnswersOf(flags, cached).catch(onFailure(() => undefined));
    const settings = await this.settingsFrom(flags, {optional: [url], cluster});
    this.sayFromCluster(settings);
    return generateConfirmed(onlyRead(settings), cluster?.facts, {app: this.app, flags});
  }

  /** Everything before the probe is read once. */
  async #cachedAccess(
    kubeTarget: ClusterTarget,
    flags: PreflightFlags,
    {signal}: Deadlines,
  ): Promise<ClusterAccess> {
    this.#cached ??= cachedAccess(await this.accessTo(kubeTarget, flags), {
      signal,
      sleep: this.app.sleep,
    });
    return this.#cached;
  }

  /** Missing tools are results of checks. */
  async #requireInputs(
    flags: SharedFlags & ClusterFlags & {'probe-url'?: string[] | undefined},
  ): Promise<void> {
    const certain = [
      () => probeUrls(flags['probe-url']),
      () => timeoutOf(flags),
      ...checksOfFiles({kubeconfig: flags.kubeconfig}, this.app),
    ];
    await this.requireLocal(flags, {certain}, {optional: [url]});
  }
}

type PreflightFlags = Parsed<typeof Preflight.flags> & SharedFlags & CheckFlags;

/** When the parts of a preflight end. They begin with the first that is used: a login to the cluster takes no time of --timeout. */
class Deadlines {
  readonly timeoutMs: number;
  readonly #hasProbe: boolean;
  #started:
    | {end: AbortSignal; read: AbortSignal; early: AbortSignal; version: AbortSignal}
    | undefined;

  constructor(timeoutMs: number, hasProbe: boolean) {
    this.timeoutMs = timeoutMs;
    this.#hasProbe = hasProbe;
  }

  get end(): AbortSignal {
    return this.#signals.end;
  }

  /** Queries before the probe leave time for it. */
  get signal(): AbortSignal {
    return this.#hasProbe ? this.#signals.read : this.#signals.end;
  }

  /** An unreachable cluster leaves time for checks that do not require it. */
  get early(): AbortSignal {
    return this.#signals.early;
  }

  get versionSignal(): AbortSignal {
    return this.#signals.version;
  }

  get #signals() {
    const readMs = Math.min(this.timeoutMs, READ_TIMEOUT_MS);
    this.#started ??= {
      end: AbortSignal.timeout(this.timeoutMs),
      read: AbortSignal.timeout(readMs),
      early: AbortSignal.timeout(readMs / 4),
      version: AbortSignal.timeout(readMs / 2),
    };
    return this.#started;
  }
}

/** The schema of the facts has next steps as text. */
const factsDocument = (facts: ClusterFacts): ClusterFacts =>
  JSON.parse(
    JSON.stringify(facts, (key, value) =>
      key === 'steps' ? remediesOf(...value).map(({text}) => text) : value,
    ),
  );
