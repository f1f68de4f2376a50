import {readdirSync, readFileSync} from 'node:fs';
import {join, resolve} from 'node:path';
import type {Command} from '@oclif/core';
import {expect, test} from 'vitest';
import {CHARTS} from '../src/charts/charts.ts';
import {within} from '../src/charts/releases.ts';
import {chartSchema} from '../src/charts/schema.ts';
import {needsNoRow} from '../src/charts/support.ts';
import {newestOf} from '../src/charts/target.ts';
import {ERROR_CODES} from '../src/errors.ts';
import {catalogue} from '../src/settings/catalogue.ts';
import type {Setting} from '../src/settings/define.ts';
import {CHART_NAMES} from './support/versions.ts';

const root = resolve(import.meta.dirname, '..');

/** Files that follow from the code. Drift fails; `npx vitest run test/generated.test.ts -u` mends it. */
const commands = await Promise.all(
  readdirSync(join(root, 'src/commands')).map(async (file) => {
    const {default: command} = (await import(join(root, 'src/commands', file))) as {default: Command.Class};
    return {id: file.replace(/\.ts$/, ''), command};
  }),
);
const flags = catalogue.filter(({onlyEnv}) => onlyEnv === undefined);

const between = (text: string, mark: string, content: string): string =>
  text.replace(new RegExp(`(<!-- ${mark} -->\\n)[\\s\\S]*?(<!-- ${mark}stop -->)`), `$1${content}\n$2`);

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');

function spelled({id, kind}: Setting): string {
  if (kind.isSwitch) return `\`--[no-]${id}\``;
  return `\`--${id} ${kind.hint.replaceAll('|', '\\|')}\``;
}

/** The charts whose newest version has a place for the setting. */
function takenBy(setting: Setting): string {
  if (needsNoRow(setting)) return 'all';
  const written = setting.carriedBy?.() ?? setting;
  const names = CHART_NAMES.filter((name) => CHARTS[name].rows.some((row) => row.setting === written && within(newestOf(name), row.in)));
  return names.length === CHART_NAMES.length ? 'all' : names.map((name) => name.replace('agent-', '')).join(', ');
}

test('README.md lists every command, setting and version', async () => {
  const path = join(root, 'README.md');
  let readme = readFileSync(path, 'utf8');
  readme = between(
    readme,
    'commands',
    table(
      ['Command', 'Does'],
      commands.map(({id, command}) => [`\`scalr-agent ${id}\``, command.summary ?? '']),
    ),
  );
  readme = between(
    readme,
    'settings',
    table(
      ['Group', 'Setting', 'What it says', 'Charts'],
      flags.map((each) => [each.group, spelled(each), each.summary, takenBy(each)]),
    ),
  );
  const versions = CHART_NAMES.map((name) => {
    const releases = chartSchema(name)['x-releases'];
    return [name, `${releases[0]?.version} to ${releases.at(-1)?.version}`, String(releases.length)];
  });
  readme = between(readme, 'versions', table(['Chart', 'Versions', 'Releases'], versions));
  await expect(readme).toMatchFileSnapshot(path);
});

test('schemas/answers.schema.json describes an answers file', async () => {
  const schema = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Answers file of scalr-agent',
    type: 'object',
    additionalProperties: false,
    properties: {
      $schema: {type: 'string'},
      ...Object.fromEntries(
        flags.map(({id, summary, kind}) => [id, {description: summary, ...(kind.isFile ? {type: 'string'} : kind.jsonSchema)}]),
      ),
    },
  };
  await expect(`${JSON.stringify(schema, null, 2)}\n`).toMatchFileSnapshot(join(root, 'schemas/answers.schema.json'));
});

test('schemas/commands.json holds every command and flag, so that a lost one shows in review', async () => {
  const contract = commands.map(({id, command}) => ({
    id,
    flags: Object.entries({...command.baseFlags, ...command.flags})
      .map(([name, flag]) => ({
        name,
        ...(flag.char ? {char: flag.char} : {}),
        type: flag.type,
        ...('multiple' in flag && flag.multiple ? {multiple: true} : {}),
        ...('allowNo' in flag && flag.allowNo ? {allowNo: true} : {}),
      }))
      .toSorted((one, other) => (one.name < other.name ? -1 : 1)),
  }));
  await expect(`${JSON.stringify(contract, null, 2)}\n`).toMatchFileSnapshot(join(root, 'schemas/commands.json'));
});

test('README.md says what to do about every failure', () => {
  const readme = readFileSync(join(root, 'README.md'), 'utf8');
  expect([...readme.matchAll(/^\| `([A-Z_]+)` \|/gm)].map(([, code]) => code)).toEqual([...ERROR_CODES]);
});
