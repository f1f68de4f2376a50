import {kubernetesAdvice, pinnedAdvice} from '../charts/advise.ts';
import type {Target} from '../charts/releases/target.ts';
import {label} from '../cluster/kubernetes/changes.ts';
import {refOf} from '../cluster/kubernetes/object-refs.ts';
import {isOwnFor, ownLabels} from '../cluster/kubernetes/own-objects.ts';
import {
  type DesiredRelease,
  type RenderedRelease,
  renderChart,
} from '../cluster/release/desired-release.ts';
import type {Inventory} from '../cluster/release/inventory.ts';
import type {InstalledRelease} from '../cluster/release/read-inventory.ts';
import {type InstallFacts, readFacts} from '../cluster/release/read-release.ts';
import {claimNames} from '../cluster/release/workload-users.ts';
import {ownCommand, type ReleaseName} from '../ground/command-line.ts';
import {failed} from '../ground/errors.ts';
import {warningOf} from '../ground/finding.ts';
import {sameTree, type Tree} from '../ground/tree.ts';
import {planInstall} from './install.ts';
import {withSecretUsers} from './install-secrets.ts';
import type {Migration} from './migrated-release.ts';
import type {Step} from './step.ts';
import {planUninstall} from './uninstall.ts';
import type {PreparedUpgrade, UpgradeReading} from './upgrade.ts';

/** A release of another chart beside the installed one, which is uninstalled when the new one is ready. Reads, changes nothing. @throws ExpectedError */
export async function prepareChartChange(
  installed: InstalledRelease,
  {desired: given, changes}: Migration,
  to: Target,
  reading: UpgradeReading,
): Promise<PreparedUpgrade> {
  const {choices, access} = reading;
  const {name, inventory, nodes} = installed;
  const facts = await readNewRelease(given, reading);
  const manifest = await renderChart(given, facts, () => undefined, access.processes);
  const desired = {...given, manifest};
  const plan = planInstall(desired, facts, choices);
  const beside = besideNew(inventory, desired);
  const removal = planUninstall(name, beside, {...choices, purge: new Set()});
  const moves = secretMoves(installed, given.name);
  const drainWarnings = removal.warnings.map((message) => warningOf('RUNS', message));
  return {
    name: given.name,
    facts,
    desired,
    plan,
    change: {removal, moves},
    steps: [...plan.steps, ...moves, ...removal.plan.steps],
    warnings: [...(plan.warnings ?? []), ...drainWarnings],
    advice: [
      ...kubernetesAdvice(to, {server: facts.serverVersion, nodes}),
      ...pinnedAdvice(to, desired.effective),
    ],
    newSettings: [],
    changes,
    keptClaims: [],
    cleanup: [],
  };
}

/** @throws ExpectedError if the name of the new release is taken */
async function readNewRelease(
  desired: DesiredRelease,
  {access, signal}: UpgradeReading,
): Promise<InstallFacts> {
  const names = desired.secrets.map((secret) => secret.name);
  const found = await readFacts(desired.name, names, access, signal);
  const facts = await withSecretUsers(found, desired, access.kubernetes, signal);
  requireOwnRelease(facts, desired);
  return facts;
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
