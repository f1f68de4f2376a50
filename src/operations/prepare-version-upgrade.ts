import {type UpgradeAdvice, upgradeFinding} from '../charts/advise.ts';
import {noteText} from '../charts/charts.ts';
import type {Target} from '../charts/releases/target.ts';
import type {ClusterAccess} from '../cluster/helm/releases.ts';
import {
  type DesiredRelease,
  type RenderedRelease,
  renderChart,
} from '../cluster/release/desired-release.ts';
import type {InstalledRelease} from '../cluster/release/read-inventory.ts';
import type {InstallFacts} from '../cluster/release/read-release.ts';
import {sameTree} from '../ground/tree.ts';
import {claimsToKeep} from './kept-claims.ts';
import {type Migration, withOldClaims, withValues} from './migrated-release.ts';

import {type PreparedUpgrade, planUpgrade, type UpgradeReading} from './upgrade.ts';

/** An upgrade of a release to another version of its chart. Reads, changes nothing. @throws ExpectedError */
export async function prepareVersionUpgrade(
  installed: InstalledRelease,
  migration: Migration,
  to: Target,
  {choices, access}: UpgradeReading,
): Promise<PreparedUpgrade> {
  const {name, facts} = installed;
  const desired = await renderWithOldClaims(migration.desired, facts, to, access);
  const upgrade = planUpgrade(installed, desired, to, choices);
  const {steps, warnings = []} = upgrade.plan;
  return {
    ...upgrade,
    name,
    steps,
    warnings,
    advice: [...removedKeys(migration, to), ...upgrade.advice, ...upstreamChanges(to)],
    changes: steps.length === 0 ? [] : migration.changes,
    facts: withDeployedRevision(installed),
  };
}

/** Renders once more if the new version has to mount PVCs that the installed one has created. */
async function renderWithOldClaims(
  given: DesiredRelease,
  facts: InstallFacts,
  to: Target,
  {processes}: Pick<ClusterAccess, 'processes'>,
): Promise<RenderedRelease> {
  const render = async (desired: DesiredRelease): Promise<RenderedRelease> => ({
    ...desired,
    manifest: await renderChart(desired, facts, () => undefined, processes),
  });
  const first = await render(given);
  const values = withOldClaims(first.values, to, claimsToKeep(first, facts));
  return sameTree(values, first.values) ? first : render(withValues(given, values, to));
}

/** A rollback restores the deployed revision. */
function withDeployedRevision({facts, deployed}: InstalledRelease): InstallFacts {
  return deployed === undefined ? facts : {...facts, release: {...facts.release, ...deployed}};
}

const removedKeys = ({gone}: Migration, to: Target): UpgradeAdvice[] =>
  gone.map(({message, subject: {path}}) => ({
    ...upgradeFinding('error', 'KEY_REMOVED', {
      message: `${path}: ${message.replace(/\.$/, '')}`,
      remedy: `Set its successor in a file for --values, and set ${path} to null there`,
    }),
    versions: to.version,
    automatic: false,
  }));

/** The change list of a version that this program does not know. */
const upstreamChanges = (to: Target): UpgradeAdvice[] =>
  (to.changes ?? []).map((change) => ({
    ...upgradeFinding('note', 'UPSTREAM_CHANGE', {
      message: `Chart changelog: ${noteText(change)}`,
      remedy: 'Check whether it concerns your agents',
    }),
    versions: to.version,
    automatic: false,
  }));
