import type {Trouble} from '../ports/cluster-api.ts';
import {isFields} from './fields.ts';

/** Of what was said instead. */
const MOST = 80;

export type Answer<T> = {value: T; trouble?: undefined} | {trouble: Trouble};

/** What a tool said as JSON of the form that is expected, or why it is none. */
export function readJson<T>(tool: string, text: string, is: (value: unknown) => value is T): Answer<T> {
  try {
    const value: unknown = JSON.parse(text);
    if (is(value)) return {value};
  } catch {
    // What it said instead tells more than what a parser says of it.
  }
  return {trouble: {kind: 'refused', message: instead(tool, text.trim())}};
}

/** Broken JSON may hold anything, so its words stay out of messages. */
function instead(tool: string, text: string): string {
  if (text === '') return `${tool} said nothing`;
  if (/^[[{]/.test(text)) return `what ${tool} said is not the JSON it should be, or not all of it`;
  return `what ${tool} said is no JSON: ${text.split('\n')[0]?.slice(0, MOST)}`;
}

export const isListOf =
  <Name extends string>(...texts: readonly Name[]) =>
  (value: unknown): value is Readonly<Record<Name, string>>[] =>
    Array.isArray(value) && value.every((each) => isFields(each) && texts.every((name) => typeof each[name] === 'string'));
