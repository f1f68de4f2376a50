import {createTwoFilesPatch, FILE_HEADERS_ONLY} from 'diff';
import type {UpgradeAdvice} from '../charts/advise.ts';
import type {Target} from '../charts/releases/target.ts';
import {type Drift, driftOf, manifestDiff} from '../cluster/diff/values-diff.ts';
import type {KubernetesObject} from '../cluster/kubernetes/objects.ts';
import type {InstallFacts} from '../cluster/release/read-release.ts';
import {callText} from '../ground/call-arguments.ts';
import {ExpectedError} from '../ground/errors.ts';
import {remediesOf, remedyText, VERDICT_ORDER, type Verdict} from '../ground/finding.ts';
import {count} from '../ground/text.ts';
import type {Values} from '../ground/tree.ts';
import type {Plan} from '../operations/step.ts';
import type {PreparedUpgrade} from '../operations/upgrade.ts';
import {toYaml} from '../values/document.ts';
import type {Change} from '../values/migrate/change.ts';
import {linesWithoutSecrets} from '../values/reading/hidden-lines.ts';
import {findingText} from './finding-text.ts';
import {paragraph, type Screen, theme} from './theme.ts';

const TITLES: readonly (readonly [Change['kind'], string])[] = [
  ['requirement', 'Requirements'],
  ['dropped', 'Not carried over'],
  ['default-changed', 'Changed defaults'],
  ['kept', 'Kept keys and defaults'],
  ['renamed', 'Renamed'],
];

/** The changes of a migration, the most important ones first. */
export function changesText(changes: readonly Change[], screen: Screen): string {
  const {bold} = theme(screen);
  return TITLES.map(([kind, title]) => {
    const own = changes.filter((each) => each.kind === kind);
    if (own.length === 0) return '';
    const lines = own.map((each) => findingText(each, screen));
    return `${bold(title)} (${own.length})\n${lines.join('')}`;
  }).join('');
}

/** A change as --json prints it. Scripts depend on these names. */
export const changeDocument = ({kind, code, subject, message, remedies}: Change) => ({
  kind,
  code,
  path: subject.path,
  message,
  ...(remedies.length > 0 && {remedy: remedyText({remedies})}),
});

export const changesSummary = (from: string, to: string, changes: readonly Change[]): string =>
  changes.length === 0
    ? `${from} to ${to}: no changes.`
    : `${from} to ${to}: ${count(changes.length, 'change')}.`;

const HEADINGS: Readonly<Record<Verdict, string>> = {
  error: 'Known problems:',
  unknown: 'Not known:',
  warning: 'Changes in behavior:',
  note: 'Also:',
};

export function upgradeText(
  from: Target,
  to: Target,
  {
    advice,
    newSettings,
    changes,
    rollback,
  }: Pick<PreparedUpgrade, 'advice' | 'newSettings' | 'changes' | 'rollback'>,
  screen: Screen,
): string {
  const {bold} = theme(screen);
  const section = <T>(title: string, items: readonly T[], textOf: (item: T) => string): string =>
    items.length === 0 ? '' : `${bold(title)}\n${items.map(textOf).join('')}`;
  const item = (text: string): string => paragraph('  - ', text, screen);
  const moved = changes.filter(({kind}) => kind !== 'kept');
  const sections = [
    `${bold('Upgrade')}    ${from.chart} ${from.version} → ${to.chart} ${to.version}\n`,
    ...VERDICT_ORDER.map((verdict) => {
      const own = advice.filter((each) => each.verdict === verdict);
      return section(HEADINGS[verdict], own, (each) => adviceText(each, screen));
    }),
    section('Values:', moved, (each) => findingText(each, screen)),
    section('New settings:', newSettings, ({setting, summary}) => item(`--${setting}: ${summary}`)),
    section(
      'Rollback:',
      [...(rollback?.limits ?? []).map(item), ...byHand(rollback, screen)],
      (text) => text,
    ),
  ];
  return `${sections.filter((each) => each !== '').join('\n')}\n`;
}

/** A rollback with several steps is more than the `helm rollback` that everybody knows. */
function byHand(rollback: PreparedUpgrade['rollback'], screen: Screen): string[] {
  if (rollback === undefined || rollback.steps.length < 2) return [];
  const isTried = rollback.steps.some(({tolerates}) => tolerates !== undefined);
  return [
    paragraph(
      '  - ',
      `--rollback-on-failure does this automatically. To roll back manually, run${isTried ? ' (the first rollback fails, because it must record the kept PVCs)' : ''}:`,
      screen,
    ),
    ...rollback.steps.map(({call}) => `      ${callText(call)}\n`),
  ];
}

function adviceText(advice: UpgradeAdvice, screen: Screen): string {
  const {message, versions, automatic} = advice;
  const finding = {...advice, message: `${message} (${versions})`};
  if (!automatic) return findingText(finding, screen);
  const remedies = remediesOf(`Included in the plan: ${remedyText(advice)}`);
  return findingText({...finding, remedies}, screen, {mark: theme(screen).green('✓')});
}

export function diffText(path: string, before: string, after: string, screen: Screen): string {
  const patch = createTwoFilesPatch(path, path, before, after, undefined, undefined, {
    context: 3,
    headerOptions: FILE_HEADERS_ONLY,
  });
  const lines = patch
    .trimEnd()
    .split('\n')
    .map((line) => line.replace(/\r$/, ''));
  const shown = linesWithoutSecrets(lines.map((line) => line.slice(1)).join('\n'));
  return lines
    .map((line, index) => `${colored(line.slice(0, 1) + shown[index], screen)}\n`)
    .join('');
}

function colored(line: string, screen: Screen): string {
  const {bold, cyan, green, red} = theme(screen);
  if (/^(---|\+\+\+) /.test(line)) return bold(line);
  if (line.startsWith('@@')) return cyan(line);
  if (line.startsWith('+')) return green(line);
  return line.startsWith('-') ? red(line) : line;
}

/** Changes from the installed to the desired values, in `diff -u` format. */
export function driftText(drift: Drift | undefined, screen: Screen): string {
  if (drift === undefined || drift.differences.length === 0) return '';
  try {
    return diffText('values.yaml', toYaml(drift.installed), toYaml(drift.file), screen);
  } catch (error) {
    // Characters that YAML cannot represent; the differing keys are already listed.
    if (error instanceof ExpectedError) return '';
    throw error;
  }
}

interface InstallDiff {
  plan: Plan;
  facts: Pick<InstallFacts, 'release' | 'live'>;
  values: Values;
  manifest: readonly KubernetesObject[];
}

/** The changes of an install: steps, values and objects that differ from the cluster. Empty if nothing changes. */
export function installDiffText(
  {plan, facts, values, manifest}: InstallDiff,
  screen: Screen,
): string {
  if (plan.steps.length === 0) return '';
  const {bold} = theme(screen);
  const steps = plan.steps.map(({title}) => paragraph('  - ', title, screen)).join('');
  const objects = manifestDiffText(facts.live, manifest, screen);
  const drift = driftText(driftOf(facts.release?.values ?? {}, values), screen);
  return [`${bold('Steps')}\n${steps}`, ...[drift, objects].filter((text) => text !== '')].join(
    '\n',
  );
}

/** The objects that differ, as `diff -u` shows them; secrets are hidden. */
export function manifestDiffText(
  before: readonly KubernetesObject[],
  after: readonly KubernetesObject[],
  screen: Screen,
): string {
  const texts = manifestDiff(before, after).map(({object, before: old, after: next}) =>
    diffText(object, old ? toYaml(old) : '', next ? toYaml(next) : '', screen),
  );
  return texts.join('\n');
}
