import type {Explanation} from '../../../src/findings/catalog.ts';
import {ERROR_CODES, type ErrorCode} from '../../../src/ground/errors.ts';
import {explanationsOf} from '../codes-page.ts';
import {words} from '../commands.ts';
import {table} from '../markdown.ts';
import type {Example} from './example.ts';
import {withCluster} from './with-cluster.ts';
import {withoutCluster} from './without-cluster.ts';

/** What the catalog says about every code. */
export const ENTRIES = Object.fromEntries(
  explanationsOf('errors.md').map((each) => [each.code, each]),
) as Readonly<Record<ErrorCode, Explanation>>;

const EXAMPLES: readonly Example[] = [...withoutCluster, ...withCluster];

/** The exit codes are those of the examples: one for each code. */
const indexTable = (sections: readonly Section[]): string =>
  table(
    ['Code', 'Exit code', 'Meaning'],
    sections.map(({code, exit}) => [
      `[\`${code}\`](#${code.toLowerCase()})`,
      exit,
      ENTRIES[code].title,
    ]),
  );

interface Section {
  code: ErrorCode;
  exit: string;
  text: string;
}

/** docs/errors.md: every code with what the program really says. */
export async function errorsPage(): Promise<string> {
  const sections: Section[] = [];
  for (const code of ERROR_CODES) sections.push(await section(code));
  return [words('errors.md'), '', indexTable(sections), '', ...sections.map(({text}) => text)].join(
    '\n',
  );
}

async function section(code: ErrorCode): Promise<Section> {
  const {title, why, remedy} = ENTRIES[code];
  const found = EXAMPLES.filter((example) => example.code === code);
  if (found.length === 0) throw new Error(`There is no example of ${code} in test/docs/errors.`);
  const examples = await Promise.all(found.map(exampleOf));
  const [exit = '', ...others] = new Set(examples.map((each) => String(each.exit)));
  if (others.length > 0) throw new Error(`${code} ends with ${[exit, ...others].join(' and ')}.`);
  const causes =
    code === 'NOT_READY' ? ['', 'The message names a [cause](causes.md), with its own code.'] : [];
  return {
    code,
    exit,
    text: [
      `## ${code}`,
      '',
      `${sentence(title)} ${why}`,
      '',
      ...examples.map(({text}) => text),
      '',
      `**Remedy.** ${remedy}`,
      ...causes,
      '',
    ].join('\n'),
  };
}

/** What the program says in the first example of every code. */
export async function errorExamples(): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const example of EXAMPLES) found[example.code] ??= (await run(example)).said;
  return found;
}

async function exampleOf(example: Example): Promise<{exit: number | string; text: string}> {
  const {exit, said} = await run(example);
  const text = ['```console', `$ ${example.typed}`, said, '$ echo $?', String(exit), '```'];
  return {exit, text: text.join('\n')};
}

async function run({code, say}: Example): Promise<{exit: number | string; said: string}> {
  const {stderr, exit} = await say();
  // What comes before the failure, such as why a chart was chosen, is not about it.
  const text = stderr.slice(Math.max(0, stderr.search(/^(Error: |Canceled)/m)));
  const isIts =
    code === 'CANCELED' || code === 'DECLINED'
      ? text.startsWith('Canceled.')
      : text.endsWith(`#${code.toLowerCase()}\n`);
  if (!isIts) throw new Error(`The example of ${code} says:\n${stderr}`);
  // It leads to where the reader is.
  return {exit, said: text.replace(/^ {2}More: .*\n/m, '').trimEnd()};
}

const sentence = (text: string): string => `${text[0]?.toUpperCase()}${text.slice(1)}.`;
