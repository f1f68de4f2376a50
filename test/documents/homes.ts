import {readdirSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {CHARTS} from '../../src/charts/charts.ts';
import {remedyOf} from '../../src/checks/diagnose/cause.ts';
import {CAUSES} from '../../src/checks/diagnose/explain.ts';
import {CHECKS} from '../../src/checks/preflight/run-preflight.ts';
import {MACHINE_CHECKS} from '../../src/extensions/machine/preflight/machine-checks.ts';
import {remedyText} from '../../src/ground/finding.ts';
import {commands, root, words} from '../docs/commands.ts';
import {FOUND} from '../docs/findings-page.ts';
import {sectionOf} from '../docs/headings.ts';
import {settings} from '../docs/settings.ts';
import {settingText} from '../docs/settings-page.ts';

/** What a user reads at each kind of home; undefined if there is no such home. */
export const TEXTS = {flag, check, finding, command, page} as const;

const flagsOf = new Map(
  commands.map(({id, command: {flags, baseFlags}}) => [
    id,
    {...baseFlags, ...flags} as Record<string, {summary?: string; description?: string}>,
  ]),
);

function flag(name: string): string | undefined {
  const setting = settings.find(({id}) => id === name);
  if (setting !== undefined) return settingText(setting);
  const found = [...flagsOf.values()].flatMap((flags) => flags[name] ?? []);
  return found.length === 0
    ? undefined
    : found.map(({summary, description}) => `${summary} ${description ?? ''}`).join('\n');
}

const MESSAGES = ['checks', 'probe'].map((folder) =>
  join(root, 'test/checks/preflight', folder, 'messages'),
);
/** Results of every check, by paragraph: `id, when`, then what it says. Where a line breaks does not matter, see `plain` of the test. */
const results = MESSAGES.flatMap((folder) =>
  readdirSync(folder).flatMap((file) => readFileSync(join(folder, file), 'utf8').split('\n\n')),
);

function check(name: string): string | undefined {
  const found = [...CHECKS, ...MACHINE_CHECKS].find(({id}) => id === name);
  return (
    found &&
    [
      found.title,
      found.ref,
      ...results.filter((each) => each.trimStart().startsWith(`${name},`)),
    ].join('\n')
  );
}

const sources = [
  'src/charts',
  'src/values',
  'src/checks/status',
  'src/extensions/bundle',
  'src/checks/diagnose',
  'src/extensions/machine',
  'src/extensions/fleet',
]
  .flatMap((folder) =>
    readdirSync(join(root, folder), {recursive: true, encoding: 'utf8'}).map((file) =>
      join(root, folder, file),
    ),
  )
  .filter((file) => file.endsWith('.ts'))
  .map((file) => readFileSync(file, 'utf8').split('\n'));

/** Lines of the source after a code, where its message is. */
const MESSAGE_LINES = 20;

function finding(name: string): string | undefined {
  const causes = CAUSES.filter(({code}) => code === name).map((row) =>
    remedyOf(row, {object: {metadata: {name: 'x'}}}, {namespace: 'x'}),
  );
  const written = sources.flatMap((lines) =>
    lines.flatMap((line, index) =>
      line.includes(`'${name}'`) ? [lines.slice(index, index + MESSAGE_LINES).join('\n')] : [],
    ),
  );
  const found = FOUND.get(name)?.finding;
  const isKnown =
    found !== undefined ||
    causes.length > 0 ||
    Object.values(CHARTS).some(({rules}) => rules.some(({code}) => code === name));
  return isKnown || written.length > 0
    ? [found?.message, found && remedyText(found), ...causes, ...written].join('\n')
    : undefined;
}

function command(name: string): string | undefined {
  const [id = '', ...names] = name.split(' --');
  const flags = flagsOf.get(id);
  if (flags === undefined || names.some((each) => flags[each] === undefined)) return undefined;
  if (names.length > 0)
    return names
      .map((each) => `${flags[each]?.summary} ${flags[each]?.description ?? ''}`)
      .join('\n');
  const {summary, description} = commands.find((each) => each.id === id)?.command ?? {};
  return [summary, description, words(`commands/${id.replaceAll(' ', '-')}.md`)].join('\n');
}

function page(name: string): string | undefined {
  const [path = '', heading] = name.split('#');
  return sectionOf(`docs/${path}`, heading);
}
