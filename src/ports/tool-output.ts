import {ExitCode, ExpectedError} from '../errors.ts';
import type {Call} from './processes.ts';

/** Of what was said instead. */
const MOST = 80;

/** What a tool said as JSON. @throws ExpectedError when it is none: a tool may be a script that somebody put around it */
export function jsonFrom<T>({tool, args}: Call, stdout: string): T {
  const value = jsonIn(stdout);
  if (value !== undefined) return value as T;
  throw new ExpectedError(`${tool} ${args[0]} failed: ${noJson(tool, stdout.trim())}`, {
    code: 'TOOL_FAILED',
    exit: ExitCode.failed,
    suggestions: [`Name the program itself with --${tool}, if ${tool} is a script around it`, 'Run it again with --verbose'],
  });
}

/** Undefined where it is none. */
export function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Tells more than what a parser says of it. Broken JSON may hold anything, so its words stay out of messages. */
export function noJson(tool: string, text: string): string {
  if (text === '') return `${tool} said nothing`;
  if (/^[[{]/.test(text)) return `what ${tool} said is not the JSON it should be, or not all of it`;
  return `what ${tool} said is no JSON: ${text.split('\n')[0]?.slice(0, MOST)}`;
}
