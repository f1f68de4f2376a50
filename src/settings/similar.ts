import {distance} from 'fastest-levenshtein';

/** The most similar of the candidates, if one is similar enough to be meant. */
export function closest(text: string, candidates: readonly string[]): string | undefined {
  const ranked = candidates.map((candidate) => ({candidate, far: distance(text, candidate)})).toSorted((one, other) => one.far - other.far);
  const best = ranked[0];
  return best && best.far <= Math.max(2, Math.floor(text.length / 4)) ? best.candidate : undefined;
}
