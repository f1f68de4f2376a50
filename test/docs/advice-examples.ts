import {advise} from '../../src/charts/advise.ts';
import {ChartVersion} from '../../src/charts/chart-version.ts';
import {gapFinding} from '../../src/extensions/bundle/collect/gap.ts';
import {cutFinding} from '../../src/extensions/bundle/report.ts';
import {ExpectedError} from '../../src/ground/errors.ts';
import type {Finding} from '../../src/ground/finding.ts';
import {upgradeText} from '../../src/ui/changes.ts';
import {findingText} from '../../src/ui/finding-text.ts';
import {generate} from '../../src/values/generate.ts';
import {migrateFile} from '../../src/values/migrate/migrate-file.ts';
import {effectiveValues} from '../../src/values/reading/read-values.ts';
import {CASES, valuesOf} from '../charts/advise-cases.ts';
import {RULES} from '../charts/rule-settings.ts';
import {RUN_LINES} from '../checks/diagnose/run-lines.ts';
import {certificates} from '../support/certificates.ts';
import {settingsFrom} from '../support/settings-from.ts';
import {EXAMPLES} from '../values/migrate/examples.ts';
import {accountFindings} from './account-examples.ts';
import {clusterFindings} from './cluster-examples.ts';
import {plannedWarnings, printedWarnings} from './warning-examples.ts';

const SCREEN = {hasColor: false, columns: 78};

/** What the program prints about settings, migrations, upgrades, recent events and bundles, by code: the first time for each. */
export async function adviceExamples(): Promise<Record<string, string>> {
  const findings = [
    ...ofMigrations(),
    ...(await ofSettings()),
    ...(await clusterFindings()),
    ...(await accountFindings()),
    ...OF_BUNDLES,
    ...(await plannedWarnings()),
  ];
  const texts = [
    ...ofUpgrades(),
    ...findings.map((each) => [each.code, findingText(each, SCREEN)] as const),
    ...(await printedWarnings()),
    ...ofRuns(),
  ];
  return Object.fromEntries(
    texts.toReversed().map(([code, text]) => [code, text.trimEnd().replaceAll(/^ {2}/gm, '')]),
  );
}

/** Causes that only `explain` knows. */
const ofRuns = (): (readonly [string, string])[] =>
  RUN_LINES.filter(([, code]) => /^(?:PROVIDER|RUN|STATE)_/.test(code)).map(([line, code]) => [
    code,
    line,
  ]);

const ofMigrations = (): Finding[] =>
  EXAMPLES.flatMap(
    ({from, to, text}) =>
      migrateFile({file: 'values.yaml', text, from, to, keeps: 'security'}).changes,
  );

/** Each known problem, in the upgrade of its test. */
const ofUpgrades = (): (readonly [string, string])[] =>
  CASES.flatMap(({code, chart, hit, values = {}, facts}) => {
    const [from = '', to = ''] = hit[0] ?? [];
    const installed = new ChartVersion({chart, version: from});
    const desired = new ChartVersion({chart, version: to});
    const effective = effectiveValues(valuesOf(values), installed);
    const found = {release: 'scalr-agent', values: effective, server: 'v1.30.2', nodes: []};
    return advise(installed, desired, {...found, ...facts})
      .filter((each) => each.code === code || each.code === 'KUBERNETES_TOO_OLD')
      .map((each) => {
        const shown = {advice: [each], newSettings: [], changes: []};
        const text = upgradeText(installed, desired, shown, SCREEN);
        return [each.code, text.slice(text.indexOf(':\n') + 2)] as const;
      });
  });

const UNKNOWN = {chart: 'agent-local', 'chart-version': '0.9.1'};

/** What the settings of the tests of the rules lead to. */
async function ofSettings(): Promise<Finding[]> {
  const found = await Promise.all(
    [...RULES.map(([, breaks]) => breaks), UNKNOWN].map(async (breaks) => {
      try {
        const flags = {url: 'https://acme.scalr.io', ...breaks};
        return generate(await settingsFrom(flags, certificates)).warnings;
      } catch (error) {
        if (!(error instanceof ExpectedError)) throw error;
        return error.problems;
      }
    }),
  );
  return found.flat();
}

const OF_BUNDLES: readonly Finding[] = [
  gapFinding({
    what: 'logs/agent-1/agent.log',
    error: {kind: 'server', message: 'etcdserver: request timed out'},
  }),
  cutFinding({file: 'logs/agent-1/agent.log', cut: 1_048_576} as Parameters<typeof cutFinding>[0]),
];
