import {type Drift, driftOf, manifestDiff} from '../diff/values-diff.ts';
import {ExpectedError} from '../ground/errors.ts';
import type {Values} from '../ground/tree.ts';
import type {KubernetesObject} from '../kubernetes/objects.ts';
import type {Plan} from '../operations/step.ts';
import type {InstallFacts} from '../release/read-release.ts';
import {linesWithoutSecrets} from '../values/validate/hide-secrets.ts';
import {toYaml} from '../values/yaml.ts';
import {paragraph, type Screen, theme} from './theme.ts';

/** The changes of a file as `diff -u` shows them. */
export async function diffText(path: string, before: string, after: string, screen: Screen): Promise<string> {
  const {createTwoFilesPatch, FILE_HEADERS_ONLY} = await import('diff');
  const patch = createTwoFilesPatch(path, path, before, after, undefined, undefined, {context: 3, headerOptions: FILE_HEADERS_ONLY});
  const lines = patch
    .trimEnd()
    .split('\n')
    .map((line) => line.replace(/\r$/, ''));
  const shown = linesWithoutSecrets(lines.map((line) => line.slice(1)).join('\n'));
  return lines.map((line, index) => `${coloured(line.slice(0, 1) + shown[index], screen)}\n`).join('');
}

function coloured(line: string, screen: Screen): string {
  const {bold, cyan, green, red} = theme(screen);
  if (/^(---|\+\+\+) /.test(line)) return bold(line);
  if (line.startsWith('@@')) return cyan(line);
  if (line.startsWith('+')) return green(line);
  return line.startsWith('-') ? red(line) : line;
}

/** Changes from the installed to the wanted values, in `diff -u` format. */
export async function driftText(drift: Drift | undefined, screen: Screen): Promise<string> {
  if (drift === undefined || drift.differences.length === 0) return '';
  try {
    return await diffText('values.yaml', toYaml(drift.installed), toYaml(drift.file), screen);
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
export async function installDiffText({plan, facts, values, manifest}: InstallDiff, screen: Screen): Promise<string> {
  if (plan.steps.length === 0) return '';
  const {bold} = theme(screen);
  const steps = plan.steps.map(({title}) => paragraph('  - ', title, screen)).join('');
  const objects = await manifestDiffText(facts.live, manifest, screen);
  const drift = await driftText(driftOf(facts.release?.values ?? {}, values), screen);
  return [`${bold('Steps')}\n${steps}`, ...[drift, objects].filter((text) => text !== '')].join('\n');
}

/** The objects that differ, as `diff -u` shows them; secrets are hidden. */
export async function manifestDiffText(
  before: readonly KubernetesObject[],
  after: readonly KubernetesObject[],
  screen: Screen,
): Promise<string> {
  const texts = manifestDiff(before, after).map(({object, before: old, after: next}) =>
    diffText(object, old ? toYaml(old) : '', next ? toYaml(next) : '', screen),
  );
  return (await Promise.all(texts)).join('\n');
}
