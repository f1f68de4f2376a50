import {kubernetesAdvice, pinnedAdvice, type UpgradeAdvice} from '../charts/advise.ts';
import {isBelow, isTooOld, noteText} from '../charts/charts.ts';
import type {Target} from '../charts/define.ts';
import type {ChartName} from '../charts/schema.ts';
import {newestOf, releasesOf} from '../charts/target.ts';
import type {ClusterAccess} from '../cluster/helm/releases.ts';
import {label} from '../cluster/kubernetes/changes.ts';
import {refOf} from '../cluster/kubernetes/object-refs.ts';
import type {KubernetesObject} from '../cluster/kubernetes/objects.ts';
import {isOwnFor, ownLabels} from '../cluster/kubernetes/own-objects.ts';
import {
  type DesiredRelease,
  type RenderedRelease,
  renderChart,
} from '../cluster/release/desired-release.ts';
import type {Inventory} from '../cluster/release/inventory.ts';
import {claimNames} from '../cluster/release/object-users.ts';
import type {InstalledRelease} from '../cluster/release/read-inventory.ts';
import {type InstallFacts, readFacts} from '../cluster/release/read-release.ts';
import {ownCommand, type ReleaseName} from '../ground/command-line.ts';
import {ExitCode, type ExpectedError, failed, type Warning} from '../ground/errors.ts';
import {sameTree, type Tree} from '../ground/tree.ts';
import {tokenSecret} from '../settings/agent.ts';
import {spell} from '../settings/define.ts';
import {type SecretNames, secretNamesOf} from '../settings/release.ts';
import type {Settings} from '../settings/settings.ts';
import {clientCertSecret} from '../settings/tls.ts';
import type {Change} from '../values/migrate/change.ts';
import {planInstall} from './install.ts';
import {withSecretUsers} from './install-secrets.ts';
import {type MigrateOptions, type Migration, migratedRelease} from './migrated-release.ts';
import type {Plan, Step} from './step.ts';
import {planUninstall, type UninstallPlan} from './uninstall.ts';
import {prepareUpgrade, type Rollback, type UpgradeChoices, type UpgradePlan} from './upgrade.ts';

/** What is shown, confirmed and run, within one chart or to another one. */
export interface PreparedUpgrade extends Omit<UpgradePlan, 'rollback'> {
  /** The release that the plan installs or upgrades. */
  name: ReleaseName;
  facts: InstallFacts;
  /** All steps, also those that remove the release of the former chart. */
  steps: readonly Step[];
  warnings: readonly Warning[];
  changes: readonly Change[];
  /** Absent if the chart changes, because the old release remains until the new one is ready. */
  rollback?: Rollback;
  /** Only to another chart. */
  change?: ChartChange;
}

interface UpgradeOptions extends Omit<MigrateOptions, 'secretNames'> {
  newRelease: string | undefined;
  /** Given names of the Secrets for a token or a client certificate in the installed values. */
  secretNames: Partial<SecretNames>;
}

/** How the cluster is read. */
interface Reading {
  choices: UpgradeChoices;
  access: ClusterAccess;
  signal: AbortSignal;
}

/** Reads and renders what an upgrade needs; changes nothing. @throws ExpectedError */
export async function prepare(
  installed: InstalledRelease,
  to: Target,
  options: UpgradeOptions,
  reading: Reading,
): Promise<PreparedUpgrade> {
  requireKubernetes(installed, to);
  const migration = migrationTo(installed, to, options);
  requireUsed(options.secretNames, installed.name, migration);
  return to.chart === installed.target.chart
    ? prepareWithin(installed, migration, to, reading)
    : prepareToOther(installed, migration, to, reading);
}

/** Helm would refuse to render the chart, with less to go on. @throws ExpectedError */
function requireKubernetes({target, facts, nodes}: InstalledRelease, to: Target): void {
  if (to.chart === target.chart && to.version === target.version) return;
  const blocked = blockedBy(kubernetesAdvice(to, {server: facts.serverVersion, nodes}));
  if (blocked) throw blocked;
}

/** The installed values for the new version, in the same release or in a new one. */
function migrationTo(
  {name, target, facts}: InstalledRelease,
  to: Target,
  {newRelease, source, keyring, overlay, secretNames}: UpgradeOptions,
): Migration {
  const next =
    to.chart === target.chart
      ? name
      : {...name, release: newRelease ?? newReleaseName(name.release, to.chart)};
  const names = {...freeNames(next.release, facts.installed), ...secretNames};
  return migratedRelease(
    next,
    facts.release.values,
    {from: target, to},
    {source, keyring, overlay, secretNames: names},
  );
}

async function prepareWithin(
  installed: InstalledRelease,
  migration: Migration,
  to: Target,
  {choices, access}: Reading,
): Promise<PreparedUpgrade> {
  const {name, facts, deployed} = installed;
  const upgrade = await prepareUpgrade(installed, migration, to, choices, access);
  const {steps, warnings = []} = upgrade.plan;
  return {
    ...upgrade,
    name,
    steps,
    warnings,
    advice: [...removedKeys(migration, to), ...upgrade.advice, ...upstreamChanges(to)],
    changes: steps.length === 0 ? [] : migration.changes,
    // A rollback restores the deployed revision.
    facts: deployed === undefined ? facts : {...facts, release: {...facts.release, ...deployed}},
  };
}

async function prepareToOther(
  installed: InstalledRelease,
  migration: Migration,
  to: Target,
  reading: Reading,
): Promise<PreparedUpgrade> {
  const change = await prepareChartChange(installed, migration, to, reading);
  const {desired, plan, advice, removal, moves, facts} = change;
  return {
    name: migration.desired.name,
    facts,
    desired,
    plan,
    advice,
    change,
    steps: [...plan.steps, ...moves, ...removal.plan.steps],
    warnings: [
      ...(plan.warnings ?? []),
      ...removal.warnings.map((message) => ({code: 'RUNS', message})),
    ],
    newSettings: [],
    changes: migration.changes,
    keptClaims: [],
    cleanup: [],
  };
}

const removedKeys = ({gone}: Migration, to: Target): UpgradeAdvice[] =>
  gone.map(({message, path}) => ({
    code: 'KEY_REMOVED',
    level: 'blocking',
    versions: to.version,
    reason: message.replace(/\.$/, ''),
    remedy: `Set its successor in a file for --values, and set ${path} to null there`,
    automatic: false,
  }));

/** The change list of a version that this program does not know. */
const upstreamChanges = (to: Target): UpgradeAdvice[] =>
  (to.changes ?? []).map((change) => ({
    code: 'UPSTREAM_CHANGE',
    level: 'info',
    versions: to.version,
    reason: `Chart changelog: ${noteText(change)}`,
    remedy: 'Check whether it concerns your agents',
    automatic: false,
  }));

export function givenSecretNames(settings: Settings): Partial<SecretNames> {
  const token = settings.isExplicit(tokenSecret) ? settings.get(tokenSecret) : undefined;
  const clientCertificate = settings.get(clientCertSecret);
  return {
    ...(token === undefined ? {} : {token}),
    ...(clientCertificate === undefined ? {} : {clientCertificate}),
  };
}

/** @throws ExpectedError for a name that the upgrade would ignore, because the release reads its token or certificate from a Secret already */
function requireUsed(
  given: Partial<SecretNames>,
  {release}: ReleaseName,
  {desired: {secrets}}: Migration,
): void {
  const used = new Set(secrets.map(({name}) => name));
  const flags = [
    {flag: spell(tokenSecret), name: given.token, content: 'token'},
    {flag: spell(clientCertSecret), name: given.clientCertificate, content: 'client certificate'},
  ];
  for (const {flag, name, content} of flags) {
    if (name === undefined || used.has(name)) continue;
    throw failed(
      'CONFLICTING_SETTINGS',
      `${flag} has no effect: the values of release ${release} contain no ${content} in plain text.`,
      [`Omit ${flag}`, 'To change the Secret of a release, use scalr-agent install'],
    );
  }
}

/** Names of Secrets that no Secret of the installed chart has, because Helm deletes those. */
function freeNames(release: string, installed: readonly KubernetesObject[]): SecretNames {
  const rendered = new Set(
    installed.filter(({kind}) => kind === 'Secret').map(({metadata}) => metadata.name),
  );
  const names = secretNamesOf(release);
  return Object.values(names).some((each) => rendered.has(each))
    ? secretNamesOf(`${release}-agent`)
    : names;
}

/** The newest version of a chart for this Kubernetes, but no older one than the installed. */
export function newestFor({target, facts}: InstalledRelease, chart: ChartName): string {
  const fits =
    releasesOf(chart).findLast((version) => !isTooOld(facts.serverVersion, {chart, version})) ??
    newestOf(chart);
  return chart === target.chart && isBelow(fits, target.version) ? target.version : fits;
}

/** What blocks the upgrade that the plan cannot handle. */
export function blockedBy(advice: readonly UpgradeAdvice[]): ExpectedError | undefined {
  const blocking = advice.filter(({level, automatic}) => level === 'blocking' && !automatic);
  if (blocking.length === 0) return undefined;
  return failed(
    'UPGRADE_BLOCKED',
    [
      'The upgrade is blocked. Nothing was changed.',
      ...blocking.map(({reason}) => `× ${reason}.`),
    ].join('\n'),
    blocking.map(({remedy}) => remedy),
  );
}

/** A release of another chart beside the installed one, which is uninstalled when the new one is ready. */
export interface ChartChange {
  desired: RenderedRelease;
  facts: InstallFacts;
  /** Installs the new release. */
  plan: Plan;
  advice: readonly UpgradeAdvice[];
  /** Runs when the new release is ready. */
  moves: readonly Step[];
  /** Then drains and uninstalls the old release; its data stays. */
  removal: UninstallPlan;
}

/** `scalr-agent` with agent-job is `scalr-agent-job`. */
export const newReleaseName = (release: string, chart: ChartName): string =>
  `${release.replace(/-(k8s|local|job)$/, '')}-${chart.replace('agent-', '')}`;

/** Reads what the new release needs, and plans both halves; changes nothing. @throws ExpectedError */
async function prepareChartChange(
  installed: InstalledRelease,
  {desired: given}: Migration,
  to: Target,
  {choices, access, signal}: Reading,
): Promise<ChartChange> {
  const {name, inventory} = installed;
  const names = given.secrets.map((secret) => secret.name);
  const facts = await withSecretUsers(
    await readFacts(given.name, names, access, signal),
    given,
    access.kubernetes,
    signal,
  );
  requireOwnRelease(facts, given);
  const desired = {
    ...given,
    manifest: await renderChart(given, facts, () => undefined, access.processes),
  };
  const removal = planUninstall(name, besideNew(inventory, desired), {
    ...choices,
    purge: new Set(),
  });
  return {
    desired,
    facts,
    plan: planInstall(desired, facts, choices),
    advice: [
      ...kubernetesAdvice(to, {server: facts.serverVersion, nodes: installed.nodes}),
      ...pinnedAdvice(to, desired.effective),
    ],
    removal,
    moves: secretMoves(installed, given.name),
  };
}

/** An interrupted upgrade leaves the new release with the same values; any other release is of others. @throws ExpectedError */
function requireOwnRelease({release}: InstallFacts, {name, chart, values}: DesiredRelease): void {
  if (release === undefined || release.status === 'uninstalled') return;
  if (release.chart === `${chart.chart}-${chart.version}` && sameTree(release.values, values))
    return;
  throw failed(
    'OBJECT_NOT_OWNED',
    `Release ${name.release} already exists (${release.chart}), and the upgrade would overwrite it.`,
    [
      'Use another name: --new-release NAME',
      `If an earlier upgrade left the release, uninstall it: ${ownCommand('uninstall', name, '--dry-run')}`,
    ],
    {exit: ExitCode.usage},
  );
}

/** What the old release leaves: the new one takes its Secrets, lives in its namespace, and may mount its PVCs. */
function besideNew(inventory: Inventory, {name, manifest}: RenderedRelease): Inventory {
  const next = `release ${name.release}`;
  const mounted = new Set(manifest.flatMap((object) => claimNames(object as unknown as Tree)));
  const {claims, namespace} = inventory;
  return {
    ...inventory,
    claims: claims.map((each) =>
      mounted.has(each.name) ? {...each, usedBy: [...(each.usedBy ?? []), next]} : each,
    ),
    secrets: [],
    namespace: namespace && {...namespace, others: [...namespace.others, next]},
  };
}

/** Secrets that this program created for the old release belong to the new one. */
const secretMoves = ({name, live}: InstalledRelease, {release, kubeTarget}: ReleaseName): Step[] =>
  live
    .filter((object) => object.kind === 'Secret' && isOwnFor(object, name.release))
    .map(({metadata}) => ({
      id: `move/${metadata.name}`,
      title: `Assign Secret ${metadata.name} to release ${release}`,
      call: label(kubeTarget, refOf({kind: 'Secret', metadata}), ownLabels(release)),
    }));
