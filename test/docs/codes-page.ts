import {type Explanation, explanations} from '../../src/findings/catalog.ts';
import {words} from './commands.ts';
import {table} from './markdown.ts';

export const explanationsOf = (page: string): Explanation[] =>
  explanations().filter(({topic}) => topic.page === page);

/** A page of docs: an index of its codes, and a section for each. `more` is what the page adds to a section. */
export function codesPage(
  page: string,
  more: (code: string) => readonly string[] = () => [],
): string {
  const own = explanationsOf(page);
  const index = table(
    ['Code', 'Meaning'],
    own.map(({code, title}) => [`[\`${code}\`](#${code.toLowerCase()})`, title]),
  );
  const sections = own.map((each) => sectionOf(each, more(each.code)));
  return [words(page), '', index, '', ...sections].join('\n');
}

const sectionOf = (
  {code, title, why, remedy, words: names = [], symptom, example}: Explanation,
  more: readonly string[],
): string =>
  [
    `## ${code}`,
    '',
    `${title[0]?.toUpperCase()}${title.slice(1)}. ${why}`,
    '',
    ...(example === undefined ? [] : ['```text', example, '```', '']),
    `**Remedy.** ${remedy}`,
    '',
    ...(names.length === 0
      ? []
      : [`Also known as ${names.map((each) => `\`${each}\``).join(', ')}.`, '']),
    ...(symptom === undefined ? [] : [`More: [Symptoms](guide/symptoms.md#${symptom})`, '']),
    ...more.flatMap((each) => [each, '']),
  ].join('\n');
