import {parse} from 'yaml';
import causeExamples from '../../templates/findings/cause-examples.json' with {type: 'json'};
import cluster from '../../templates/findings/cluster.yaml';
import errors from '../../templates/findings/errors.yaml';
import examples from '../../templates/findings/examples.json' with {type: 'json'};
import preflight from '../../templates/findings/preflight.yaml';
import upgrade from '../../templates/findings/upgrade.yaml';
import values from '../../templates/findings/values.yaml';
import warnings from '../../templates/findings/warnings.yaml';
import {closest} from '../ground/similar-text.ts';
import {resembling, spelledIn} from './own-text.ts';

/** What the catalog says about a code. Texts are Markdown without links. */
interface Entry {
  /** What is wrong, as a phrase without an article or a full stop. */
  title: string;
  why: string;
  remedy: string;
  /** What kubectl, a log or a tool calls it, for example `ImagePullBackOff`. */
  words?: readonly string[];
}

/** The meaning of a code that this program prints. */
export interface Explanation extends Entry {
  /** `OOM_KILLED`, or the id of a preflight check such as `storage-class`. */
  code: string;
  topic: Topic;
  /** What a test made this program print; absent where no test does yet. */
  example?: string | undefined;
}

/** Codes that belong together: one file of templates/findings, one page of docs. */
interface Topic {
  title: string;
  /** Page below `docs`. */
  page: string;
}

const TOPICS: readonly (Topic & {text: string})[] = [
  {title: 'Errors that end a command', page: 'errors.md', text: errors},
  {title: 'Findings about values files', page: 'findings.md', text: values},
  {title: 'Preflight checks', page: 'preflight.md', text: preflight},
  {title: 'Causes in a cluster, in Docker and on a VM', page: 'causes.md', text: cluster},
  {title: 'What an upgrade changes', page: 'upgrades.md', text: upgrade},
  {title: 'Warnings', page: 'warnings.md', text: warnings},
];

const EXAMPLES: Readonly<Record<string, string>> = {...examples, ...causeExamples};

/** Every code, by topic. */
export const explanations = (): Explanation[] =>
  TOPICS.flatMap(({text, ...topic}) =>
    Object.entries(parse(text) as Readonly<Record<string, Entry>>).map(([code, entry]) => ({
      code,
      topic,
      example: EXAMPLES[code],
      ...entry,
    })),
  );

/** The code of a pasted line. */
interface CodeOfLine {
  /** Of a line that only kubectl or helm prints. */
  certain?: string | undefined;
  /** Of a line that another program can print too. It comes first. */
  probable?: string | undefined;
  /** Of another program, in which words such as 403 mean something else. */
  isOfOthers?: boolean;
}

/**
 * The explanations of a code, of a word that kubectl or a log uses, or of a pasted line that contains such words; empty if
 * nothing matches.
 */
export function explain(
  text: string,
  {certain, probable, isOfOthers = false}: CodeOfLine = {},
): Explanation[] {
  const all = explanations();
  const wanted = normal(text);
  // Without a dash, it may be a word as well.
  const isSpelled = /[_-]/.test(text);
  const exact = all.filter(({code}) => code === text || (isSpelled && normal(code) === wanted));
  // The id of a check such as quota is a word as well.
  if (exact.length > 0)
    return /^[a-z]+$/.test(text) ? [...new Set([...exact, ...withWords(text, all)])] : exact;
  const named = all.filter(({code, words = []}) =>
    [code, ...words].some((each) => normal(each) === wanted),
  );
  if (named.length > 0) return named;
  const spelled = spelledIn(text, all);
  if (spelled.length > 0) return spelled;
  if (certain !== undefined) return all.filter(({code}) => code === certain);
  const pasted = new Set([
    ...resembling(text, all.filter(isOwnMessage)),
    ...all.filter(({code}) => code === probable),
    ...(isOfOthers ? [] : inLine(text, all)),
  ]);
  return pasted.size > 0 ? [...pasted] : withWords(text, all);
}

/** Causes quote kubectl or a log, which have patterns of their own. */
const isOwnMessage = ({topic}: Explanation): boolean => topic.page !== 'causes.md';

/** The explanations whose code, title or words have every word of the text, or begin with it. */
function withWords(text: string, all: readonly Explanation[]): Explanation[] {
  const wanted = wordsIn(text).filter((each) => !STOP_WORD.test(each));
  if (wanted.length === 0) return [];
  return all.filter(({code, title, words = []}) => {
    const own = wordsIn([code, title, ...words].join(' '));
    return wanted.every((each) =>
      own.some((word) => word === each || (!/^\d+$/.test(each) && word.startsWith(each))),
    );
  });
}

const wordsIn = (text: string): string[] => text.toLowerCase().match(/[a-z0-9]+/g) ?? [];

const STOP_WORD =
  /^(a|an|and|are|at|be|but|by|do|does|for|from|get|has|have|how|i|in|is|it|its|keeps|my|no|not|nothing|of|on|or|stay|stays|stuck|that|the|this|to|was|what|when|why|will|with)$/;

/** The explanations with a word in the line; those with the longest word first, which says most. */
function inLine(line: string, all: readonly Explanation[]): Explanation[] {
  const lengthIn = ({words = []}: Explanation): number =>
    Math.max(0, ...words.filter((each) => isInLine(each, line)).map(({length}) => length));
  return all
    .filter((each) => lengthIn(each) > 0)
    .toSorted((one, other) => lengthIn(other) - lengthIn(one));
}

/** States such as Pending and Error are also words of a sentence. */
const isInLine = (word: string, line: string): boolean =>
  !/^[A-Z][a-z]+$/.test(word) && new RegExp(`(?<!\\w)${patternOf(word)}(?!\\w)`, 'i').test(line);

/** As `kubectl describe` prints it too: `Exit Code:    137`. */
const patternOf = (word: string): string =>
  word.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&').replaceAll(' ', ':?\\s+');

/** The code or word that was probably meant. */
export function closestCode(word: string): string | undefined {
  const candidates = explanations().flatMap(({code, words = []}) => [code, ...words]);
  const spelled = new Map(candidates.map((each) => [normal(each), each]));
  const near = closest(normal(word), [...spelled.keys()]);
  return near === undefined ? undefined : spelled.get(near);
}

/** Case, dashes, underscores, colons and spaces make no difference. */
const normal = (text: string): string => text.toLowerCase().replaceAll(/[\s:_-]/g, '');
