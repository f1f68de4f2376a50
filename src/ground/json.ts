import type {ReadResult} from './fact.ts';

/** Maximum length of the quoted output. */
const MAX_LINES = 80;

/** Undefined if it is not JSON. Wrappers of tools print lines before it. */
export function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    const start = text.search(/^[[{]/m);
    return start > 0 ? jsonIn(text.slice(start)) : undefined;
  }
}

/** Describes invalid output without quoting it, because broken JSON can contain secrets. */
export function noJson(tool: string, text: string): string {
  if (text === '') return `${tool} returned no output`;
  if (/^[[{]/.test(text)) return `${tool} returned incomplete or unexpected JSON`;
  return `the output of ${tool} is not JSON: ${text.split('\n')[0]?.slice(0, MAX_LINES)}`;
}

/** A JSON object with unknown fields. */
export type Fields = Readonly<Record<string, unknown>>;

export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const jsonText = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

/** Parses JSON output of a tool and checks its shape. */
export function readJson<T>(
  tool: string,
  text: string,
  is: (value: unknown) => value is T,
): ReadResult<T> {
  const value = jsonIn(text);
  if (is(value)) return {value};
  return {error: {kind: 'refused', message: noJson(tool, text.trim())}};
}

export const isListOf =
  <Name extends string>(...texts: readonly Name[]) =>
  (value: unknown): value is Readonly<Record<Name, string>>[] =>
    Array.isArray(value) &&
    value.every((each) => isFields(each) && texts.every((name) => typeof each[name] === 'string'));
