import {distance} from 'fastest-levenshtein';

/** The candidates that are similar enough, the most similar one first: one edit in four characters, two in five, a quarter of a long text. */
const similar = (text: string, candidates: readonly string[]): {candidate: string; far: number}[] =>
  candidates
    .map((candidate) => ({candidate, far: distance(text, candidate)}))
    .filter(({far}) => far <= Math.max(text.length < 5 ? 1 : 2, Math.floor(text.length / 4)))
    .toSorted((one, other) => one.far - other.far);

/** The most similar candidate, if it is similar enough. */
export const closest = (text: string, candidates: readonly string[]): string | undefined =>
  similar(text, candidates)[0]?.candidate;

/** True if the text can only be a misspelling of this candidate. */
export function isMisspelled(
  text: string,
  desired: string,
  candidates: readonly string[],
): boolean {
  const [only, ...others] = similar(text, candidates);
  return only?.candidate === desired && others.length === 0 && 2 * only.far < text.length;
}
