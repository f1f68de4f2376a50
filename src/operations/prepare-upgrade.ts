import {kubernetesAdvice, type UpgradeAdvice} from '../charts/advise.ts';
import {isBelow, isTooOld} from '../charts/charts.ts';
import type {ChartName} from '../charts/releases/chart-name.ts';
import {newestOf, releasesOf, type Target} from '../charts/releases/target.ts';
import type {KubernetesObject} from '../cluster/kubernetes/objects.ts';
import type {InstalledRelease} from '../cluster/release/read-inventory.ts';
import type {ReleaseName} from '../ground/command-line.ts';
import {type ExpectedError, failed} from '../ground/errors.ts';
import {remedyText} from '../ground/finding.ts';
import {tokenSecret} from '../settings/agent.ts';
import {spell} from '../settings/define.ts';
import {type SecretNames, secretNamesOf} from '../settings/release.ts';
import type {Settings} from '../settings/settings.ts';
import {clientCertSecret} from '../settings/tls.ts';
import {type MigrateOptions, type Migration, migratedRelease} from './migrated-release.ts';
import {prepareChartChange} from './prepare-chart-change.ts';
import {prepareVersionUpgrade} from './prepare-version-upgrade.ts';
import type {PreparedUpgrade, UpgradeReading} from './upgrade.ts';

export interface UpgradeOptions extends Omit<MigrateOptions, 'secretNames'> {
  to: Target;
  newRelease: string | undefined;
  /** Given names of the Secrets for a token or a client certificate in the installed values. */
  secretNames: Partial<SecretNames>;
}

/** Reads and renders what an upgrade needs; changes nothing. @throws ExpectedError */
export async function prepareUpgrade(
  installed: InstalledRelease,
  options: UpgradeOptions,
  reading: UpgradeReading,
): Promise<PreparedUpgrade> {
  const {to, secretNames} = options;
  requireKubernetes(installed, to);
  const migration = migrationOf(installed, options);
  requireUsed(secretNames, installed.name, migration);
  const prepare = to.chart === installed.target.chart ? prepareVersionUpgrade : prepareChartChange;
  return prepare(installed, migration, to, reading);
}

/** Helm would refuse to render the chart, with less to go on. @throws ExpectedError */
function requireKubernetes({target, facts, nodes}: InstalledRelease, to: Target): void {
  if (to.chart === target.chart && to.version === target.version) return;
  const blocked = blockedBy(kubernetesAdvice(to, {server: facts.serverVersion, nodes}));
  if (blocked) throw blocked;
}

/** The installed values for the new version, in the same release or in a new one. */
function migrationOf(
  {name, target, facts}: InstalledRelease,
  {to, newRelease, secretNames, ...options}: UpgradeOptions,
): Migration {
  const {chart} = to;
  const release =
    chart === target.chart ? name.release : (newRelease ?? newReleaseName(name.release, chart));
  const names = {...freeNames(release, facts.installed), ...secretNames};
  const versions = {from: target, to};
  return migratedRelease({...name, release}, facts.release.values, versions, {
    ...options,
    secretNames: names,
  });
}

/** `scalr-agent` with agent-job is `scalr-agent-job`. */
export const newReleaseName = (release: string, chart: ChartName): string =>
  `${release.replace(/-(k8s|local|job)$/, '')}-${chart.replace('agent-', '')}`;

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
  const blocking = advice.filter(({verdict, automatic}) => verdict === 'error' && !automatic);
  if (blocking.length === 0) return undefined;
  return failed(
    'UPGRADE_BLOCKED',
    [
      'The upgrade is blocked. Nothing was changed.',
      ...blocking.map(({message}) => `× ${message}.`),
    ].join('\n'),
    blocking.map(remedyText),
  );
}
