/** A code, and what a test made this program print about it. */
interface Printed {
  code: string;
  example?: string | undefined;
}

/** The entries whose code the text spells out. Without a dash or an underscore, it is an ordinary word as well. */
export const spelledIn = <T extends Printed>(text: string, all: readonly T[]): T[] => {
  const words: readonly string[] = text.match(/(?<=^|\s)\w+(?:[_-]\w+)+(?=[\s:.,]|$)/g) ?? [];
  return all.filter(({code}) => words.includes(code));
};

/** Names and numbers differ from those of the example. */
const MIN_LIKENESS = 0.6;
const MIN_WORDS = 3;

/** The entries whose message the text resembles most. */
export function resembling<T extends Printed>(text: string, all: readonly T[]): T[] {
  const pasted = [text, firstSentence(text)].map(wordsOf).filter(({size}) => size >= MIN_WORDS);
  const likenesses = all.map(({example = ''}) =>
    Math.max(
      ...clausesOf(example).flatMap((clause) =>
        pasted.map((words) => likeness(words, wordsOf(clause))),
      ),
    ),
  );
  const best = Math.max(MIN_LIKENESS, ...likenesses);
  return all.filter((_, index) => likenesses[index] === best);
}

/** Without the code, the object and the next steps, which many messages have in common. */
const clausesOf = (example: string): string[] =>
  (example.split(/\n *(?:→|Next steps|See |[A-Z_]{5,} {2})/, 1)[0] ?? '')
    .replaceAll(/\s+/g, ' ')
    .replace(/^\S [\w-]+ (?:\w+\/\S+: |[^:]*: )?/, '')
    .split(/[.;,] |\.$/);

/** What follows it differs more: completed changes, or further problems. */
const firstSentence = (text: string): string => text.split(/\. |\n/, 1)[0] ?? '';

const wordsOf = (text: string): Set<string> =>
  new Set(text.toLowerCase().match(/[\w./-]*\w/g) ?? []);

/** From 0 to 1: how much two texts have in common. */
const likeness = (one: ReadonlySet<string>, other: ReadonlySet<string>): number =>
  (2 * [...one].filter((word) => other.has(word)).length) / (one.size + other.size);
