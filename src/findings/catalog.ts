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
  /** Anchor of the section in `guide/symptoms.md` with the details. */
  symptom?: string | undefined;
}

/** The meaning of a code that this program prints. */
export interface Explanation extends Entry {
  /** `OOM_KILLED`, or the id of a preflight check such as `storage-class`. */
  code: string;
  topic: Topic;
  /** The first line of the log that tells it. */
  line?: string | undefined;
  /** What a test made this program print; absent where no test does yet. */
  example?: string | undefined;
}

/** Codes that belong together: one file of templates/findings, one page of docs. */
interface Topic {
  title: string;
  /** Page below `docs`. */
  page: string;
}

const TOPICS: readonly (Topic & {codes: Readonly<Record<string, Entry>>})[] = [
  {title: 'Errors that end a command', page: 'errors.md', codes: errors},
  {title: 'Findings about values files', page: 'findings.md', codes: values},
  {title: 'Preflight checks', page: 'preflight.md', codes: preflight},
  {title: 'Causes in a cluster, in Docker and on a VM', page: 'causes.md', codes: cluster},
  {title: 'What an upgrade changes', page: 'upgrades.md', codes: upgrade},
  {title: 'Warnings', page: 'warnings.md', codes: warnings},
];

const EXAMPLES: readonly Readonly<Record<string, string>>[] = [causeExamples, examples];

/** Every code, by topic. */
export const explanations = (): Explanation[] =>
  TOPICS.flatMap(({codes, ...topic}) =>
    Object.entries(codes).map(([code, entry]) => ({
      code,
      topic,
      example: EXAMPLES.find((each) => code in each)?.[code],
      ...entry,
    })),
  );

/** The code of a pasted line. */
export interface CodeOfLine {
  /** Of a line that only kubectl, helm or a run prints. */
  certain?: string | undefined;
  /** Of a line that agents print. */
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
  const own = resembling(text, all.filter(isOwnMessage));
  const ofAgent = all.filter(({code}) => code === probable);
  if (own.length === 0 && ofAgent.length > 0 && !CLUSTER_ADDRESS.test(text)) return ofAgent;
  const pasted = new Set([...own, ...ofAgent, ...(isOfOthers ? [] : inLine(text, all))]);
  return pasted.size > 0 ? [...pasted] : withWords(text, all);
}

/** The API server can have refused it, for an agent or for kubectl. */
const CLUSTER_ADDRESS =
  /:6443\b|\/\/\d[\d.]+[:/"]|\bdial tcp \d[\d.]+:443\b|eks\.amazonaws\.com|azmk8s\.io/;

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

/**
 * The explanations with a word in the line; the longest word first, because it is the most specific. A word inside a
 * longer match is ignored.
 */
function inLine(line: string, all: readonly Explanation[]): Explanation[] {
  const found = all.flatMap((each) =>
    (each.words ?? []).flatMap((word) => ({each, ...placeOf(word, line)})),
  );
  return found
    .filter(
      ({from, to}) =>
        to > from &&
        !found.some((other) => other.from <= from && other.to >= to && lengthOf(other) > to - from),
    )
    .toSorted((one, other) => lengthOf(other) - lengthOf(one))
    .map(({each}) => each);
}

interface Place {
  from: number;
  to: number;
}

const lengthOf = ({from, to}: Place): number => to - from;

/** Empty if the line lacks the word. States such as Pending and Error are also words of a sentence. */
function placeOf(word: string, line: string): Place {
  const found = /^[A-Z][a-z]+$/.test(word)
    ? null
    : new RegExp(`(?<!\\w)${patternOf(word)}(?!\\w)`, 'i').exec(line);
  const from = found?.index ?? 0;
  return {from, to: from + (found?.[0].length ?? 0)};
}

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
