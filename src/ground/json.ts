/** Maximum length of the quoted output. */
const MAX_LINES = 80;

/** Undefined if it is not JSON. */
export function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Describes invalid output without quoting it, because broken JSON can contain secrets. */
export function noJson(tool: string, text: string): string {
  if (text === '') return `${tool} returned no output`;
  if (/^[[{]/.test(text)) return `${tool} returned incomplete or unexpected JSON`;
  return `the output of ${tool} is not JSON: ${text.split('\n')[0]?.slice(0, MAX_LINES)}`;
}
