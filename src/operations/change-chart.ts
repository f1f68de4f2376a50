import {kubernetesAdvice, pinnedAdvice, type UpgradeAdvice} from '../charts/advise.ts';
import type {Target} from '../charts/define.ts';
import type {ChartName} from '../charts/schema.ts';
import {ownCommand, type ReleaseName} from '../ground/command-line.ts';
import {ExitCode, failed} from '../ground/errors.ts';
import {sameTree, type Tree} from '../ground/tree.ts';
import type {ClusterAccess} from '../helm/releases.ts';
import {label} from '../kubernetes/kubectl.ts';
import {isMadeFor, ownLabels, refOf} from '../kubernetes/objects.ts';
import type {InstalledRelease} from '../release/installed-release.ts';
import type {Inventory} from '../release/inventory.ts';
import {type InstallFacts, readFacts} from '../release/read-release.ts';
import {claimNames} from '../release/users.ts';
import {planInstall} from './install.ts';
import {withSecretUsers} from './install-secrets.ts';
import type {Migration} from './migrated-release.ts';
import {renderChart} from './render-chart.ts';
import type {Plan, Step} from './step.ts';
import {planUninstall, type UninstallPlan} from './uninstall.ts';
import type {UpgradeChoices} from './upgrade.ts';
import type {WantedRelease} from './wanted-release.ts';

/** A release of another chart beside the installed one, which is uninstalled when the new one is ready. */
export interface ChartChange {
  wanted: WantedRelease;
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
export async function prepareChartChange(
  installed: InstalledRelease,
  {wanted: given}: Migration,
  to: Target,
  choices: UpgradeChoices,
  access: ClusterAccess,
  signal: AbortSignal,
): Promise<ChartChange> {
  const {name, inventory} = installed;
  const names = given.secrets.map((secret) => secret.name);
  const facts = await withSecretUsers(await readFacts(given.name, names, access, signal), given, access.kubernetes, signal);
  requireOwnRelease(facts, given);
  const wanted = {...given, manifest: await renderChart(given, facts, () => undefined, access.processes)};
  const removal = planUninstall(name, besideNew(inventory, wanted), {...choices, purge: new Set()});
  return {
    wanted,
    facts,
    plan: planInstall(wanted, facts, choices),
    advice: [...kubernetesAdvice(to, {server: facts.serverVersion, nodes: installed.nodes}), ...pinnedAdvice(to, wanted.effective)],
    removal,
    moves: secretMoves(installed, given.name),
  };
}

/** An interrupted upgrade leaves the new release with the same values; any other release is of others. @throws ExpectedError */
function requireOwnRelease({release}: InstallFacts, {name, chart, values}: Omit<WantedRelease, 'manifest'>): void {
  if (release === undefined || release.status === 'uninstalled') return;
  if (release.chart === `${chart.chart}-${chart.version}` && sameTree(release.values, values)) return;
  throw failed(
    'OBJECT_OF_ANOTHER',
    `Release ${name.release} already exists (${release.chart}), and the upgrade would overwrite it.`,
    [
      'Use another name: --new-release NAME',
      `If an earlier upgrade left the release, uninstall it: ${ownCommand('uninstall', name, '--dry-run')}`,
    ],
    {exit: ExitCode.usage},
  );
}

/** What the old release leaves: the new one takes its Secrets, lives in its namespace, and may mount its PVCs. */
function besideNew(inventory: Inventory, {name, manifest}: WantedRelease): Inventory {
  const next = `release ${name.release}`;
  const mounted = new Set(manifest.flatMap((object) => claimNames(object as unknown as Tree)));
  const {claims, namespace} = inventory;
  return {
    ...inventory,
    claims: claims.map((each) => (mounted.has(each.name) ? {...each, usedBy: [...each.usedBy, next]} : each)),
    secrets: [],
    namespace: namespace && {...namespace, others: [...namespace.others, next]},
  };
}

/** Secrets that this program created for the old release belong to the new one. */
const secretMoves = ({name, live}: InstalledRelease, {release, kubeTarget}: ReleaseName): Step[] =>
  live
    .filter((object) => object.kind === 'Secret' && isMadeFor(object, name.release))
    .map(({metadata}) => ({
      id: `move/${metadata.name}`,
      title: `Assign Secret ${metadata.name} to release ${release}`,
      call: label(kubeTarget, refOf({kind: 'Secret', metadata}), ownLabels(release)),
    }));
