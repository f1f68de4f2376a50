import {parse} from 'yaml';
import {remedyOf} from '../../../src/checks/diagnose/cause.ts';
import {CAUSES} from '../../../src/checks/diagnose/explain.ts';
import {ERROR_CODES, type ErrorCode} from '../../../src/ground/errors.ts';
import {words} from '../commands.ts';
import {table} from '../markdown.ts';
import type {Example} from './example.ts';
import {withCluster} from './with-cluster.ts';
import {withoutCluster} from './without-cluster.ts';

interface Entry {
  /** One line, for a table. */
  title: string;
  why: string;
  remedy: string;
}

/** What people wrote about every code. */
export const ENTRIES = parse(words('errors.yaml')) as Readonly<Record<ErrorCode, Entry>>;

const EXAMPLES: readonly Example[] = [...withoutCluster, ...withCluster];

/** The exit codes are those of the examples. */
const indexTable = (sections: readonly Section[]): string =>
  table(
    ['Code', 'Exit code', 'Meaning'],
    sections.map(({code, exits}) => [
      `[\`${code}\`](#${code.toLowerCase()})`,
      exits.join(', '),
      ENTRIES[code].title,
    ]),
  );

interface Section {
  code: ErrorCode;
  exits: readonly string[];
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
  const causes = code === 'NOT_READY' ? ['', causesText()] : [];
  return {
    code,
    exits: [...new Set(examples.map(({exit}) => String(exit)))].toSorted(),
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

async function exampleOf({
  code,
  typed,
  say,
}: Example): Promise<{exit: number | string; text: string}> {
  const {stderr, exit} = await say();
  // What comes before the failure, such as why a chart was chosen, is not about it.
  const text = stderr.slice(Math.max(0, stderr.search(/^(Error: |Canceled)/m)));
  const isIts =
    code === 'CANCELED' ? text.startsWith('Canceled.') : text.endsWith(`#${code.toLowerCase()}\n`);
  if (!isIts) throw new Error(`The example of ${code} says:\n${stderr}`);
  // It leads to where the reader is.
  const said = text.replace(/^ {2}More: .*\n/m, '').trimEnd();
  return {
    exit,
    text: ['```console', `$ ${typed}`, said, '$ echo $?', String(exit), '```'].join('\n'),
  };
}

/** What `install` and `status` name where an agent is not ready. */
const causesText = (): string =>
  table(
    ['Cause', 'Next step'],
    CAUSES.map((row) => [
      `\`${row.code}\``,
      remedyOf(row, ANYTHING, {namespace: 'NAMESPACE'}).replace(/(?<=: )kubectl .*/, '`$&`'),
    ]),
  );

/** In place of the object that a run names. */
const ANYTHING = {
  object: {
    metadata: {name: 'NAME'},
    spec: {nodeName: 'NODE', volumes: [{persistentVolumeClaim: {claimName: 'PVC'}}]},
  },
  container: 'CONTAINER',
};

const sentence = (text: string): string => `${text[0]?.toUpperCase()}${text.slice(1)}.`;
