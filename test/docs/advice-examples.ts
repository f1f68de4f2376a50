import {advise} from '../../src/charts/advise.ts';
import {ChartVersion} from '../../src/charts/chart-version.ts';
import {KNOWN_PROBLEMS} from '../../src/charts/known-problems.ts';
import {releasesOf} from '../../src/charts/releases/target.ts';
import {within} from '../../src/charts/releases/versions.ts';
import Validate from '../../src/commands/validate.ts';
import {gapFinding} from '../../src/extensions/bundle/collect/gap.ts';
import {cutFinding} from '../../src/extensions/bundle/report.ts';
import {ExpectedError} from '../../src/ground/errors.ts';
import type {Finding} from '../../src/ground/finding.ts';
import {unusedSecretWarnings} from '../../src/operations/install-secrets.ts';
import {upgradeText} from '../../src/ui/changes.ts';
import {findingText} from '../../src/ui/finding-text.ts';
import {generate} from '../../src/values/generate.ts';
import {migrateFile} from '../../src/values/migrate/migrate-file.ts';
import {RULES} from '../charts/rule-settings.ts';
import {WITH_HISTORY} from '../checks/status/histories.ts';
import {statusFrom} from '../checks/status/readings.ts';
import {certificates} from '../support/certificates.ts';
import {memoryFiles} from '../support/memory-files.ts';
import {runCommand} from '../support/run-command.ts';
import {settingsFrom} from '../support/settings-from.ts';
import {CHART_NAMES} from '../support/versions.ts';
import {EXAMPLES} from '../values/migrate/examples.ts';

const SCREEN = {hasColor: false, columns: 78};

/** What the program prints about settings, migrations, upgrades, recent events and bundles, by code: the first time for each. */
export async function adviceExamples(): Promise<Record<string, string>> {
  const findings = [
    ...ofMigrations(),
    ...(await ofSettings()),
    ...ofHistories(),
    ...OF_BUNDLES,
    ...unusedSecretWarnings(RELEASE, {installed: [WITH_CERTIFICATE]}),
  ];
  const texts = [
    ...ofUpgrades(),
    ...findings.map((each) => [each.code, findingText(each, SCREEN)] as const),
    ['NOTHING_TO_CHECK', await ofEmptyDirectory()] as const,
  ];
  return Object.fromEntries(
    texts.toReversed().map(([code, text]) => [code, text.trimEnd().replaceAll(/^ {2}/gm, '')]),
  );
}

const ofMigrations = (): Finding[] =>
  EXAMPLES.flatMap(
    ({from, to, text}) =>
      migrateFile({file: 'values.yaml', text, from, to, keeps: 'security'}).changes,
  );

/** Each known problem between the newest versions that it is about. */
const ofUpgrades = (): (readonly [string, string])[] =>
  CHART_NAMES.flatMap((chart) =>
    KNOWN_PROBLEMS[chart].flatMap(({code, from, to}) => {
      const newest = (range: string) =>
        releasesOf(chart).findLast((version) => within(version, range));
      const versions = {from: newest(from), to: newest(to)};
      if (versions.from === undefined || versions.to === undefined) return [];
      const installed = new ChartVersion({chart, version: versions.from});
      const desired = new ChartVersion({chart, version: versions.to});
      const facts = {release: 'scalr-agent', values: installed.defaults, server: '1.30', nodes: []};
      return advise(installed, desired, facts)
        .filter((each) => each.code === code || each.code === 'KUBERNETES_TOO_OLD')
        .map((each) => {
          const shown = {advice: [each], newSettings: [], changes: []};
          const text = upgradeText(installed, desired, shown, SCREEN);
          return [each.code, text.slice(text.indexOf(':\n') + 2)] as const;
        });
    }),
  );

/** What the settings of the tests of the rules lead to. */
async function ofSettings(): Promise<Finding[]> {
  const found = await Promise.all(
    RULES.map(async ([, breaks]) => {
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

const ofHistories = (): Finding[] =>
  WITH_HISTORY.flatMap((readings) => {
    const {recent, causes, advice} = statusFrom(readings);
    return [...recent, ...causes, ...advice];
  });

const RELEASE = {
  name: {release: 'scalr-agent', kubeTarget: {namespace: 'scalr-agent'}},
  manifest: [],
} as unknown as Parameters<typeof unusedSecretWarnings>[0];

const WITH_CERTIFICATE = {
  kind: 'Deployment',
  metadata: {name: 'scalr-agent'},
  spec: {volumes: [{name: 'tls', secret: {secretName: 'scalr-agent-client-cert'}}]},
};

const OF_BUNDLES: readonly Finding[] = [
  gapFinding({
    what: 'logs/agent-1/agent.log',
    error: {kind: 'server', message: 'etcdserver: request timed out'},
  }),
  cutFinding({file: 'logs/agent-1/agent.log', cut: 1_048_576} as Parameters<typeof cutFinding>[0]),
];

async function ofEmptyDirectory(): Promise<string> {
  const files = {...memoryFiles({}), list: async () => [], kindOf: async () => 'directory'};
  const {stderr} = await runCommand(Validate, ['deploy', '--no-ignore'], {files} as never);
  return stderr;
}
