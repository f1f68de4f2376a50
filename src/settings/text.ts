import {distance} from 'fastest-levenshtein';

/** The most similar of the candidates, if one is similar enough to be meant. */
export function closest(text: string, candidates: readonly string[]): string | undefined {
  const ranked = candidates.map((candidate) => ({candidate, far: distance(text, candidate)})).toSorted((one, other) => one.far - other.far);
  const best = ranked[0];
  return best && best.far <= Math.max(2, Math.floor(text.length / 4)) ? best.candidate : undefined;
}

/** What a YAML 1.1 reader such as Helm's takes for something other than a text when it stands without quotes. */
const NO_TEXT =
  /^(y|n|yes|no|on|off|true|false|null|~|[-+]?(0x[0-9a-f_]+|0b[01_]+|0o?[0-7_]+|[0-9][0-9_]*(:[0-5]?[0-9])*(\.[0-9_]*)?(e[-+]?[0-9]+)?|\.[0-9_]+(e[-+]?[0-9]+)?|\.inf)|\.nan|\d{4}-\d{1,2}-\d{1,2}.*)$/i;

/**
 * True when the text stays a text without quotes. The charts write most names without (`name: {{ … }}`), so a Secret
 * called 123 would become a number in the manifest, which Kubernetes refuses.
 */
export const staysText = (text: string): boolean => !NO_TEXT.test(text);

const UNPRINTABLE = /(?![\n\t])[\p{Cc}\p{Zl}\p{Zp}\p{Surrogate}\ufeff\ufffe\uffff]/u;

/** False for what YAML readers and terminals do not agree on: control characters, odd line ends, half characters. */
export const isPrintable = (text: string): boolean => !UNPRINTABLE.test(text);
