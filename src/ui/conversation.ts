import type {Group, Setting} from '../settings/define.ts';
import type {Answer, AnswerSource} from '../settings/settings.ts';
import {paragraph, type Screen, theme} from './theme.ts';

const FROM: Readonly<Record<AnswerSource, string>> = {
  flag: 'flag',
  environment: 'environment',
  answers: 'answers file',
  'values-file': 'values file',
  cluster: 'cluster',
  prompt: 'earlier answer',
  default: 'default',
  chart: 'chart default',
};

export const headingText = (group: Group, screen: Screen): string => `\n${theme(screen).bold(group)}\n`;

const INDENT = '  ';

/** Text under a question. */
export const indented = (text: string, screen: Screen): string => paragraph(INDENT, text, screen).trimEnd();

/** A question without its mark, with its default or what an empty answer means. */
export function questionText(message: string, note: string | undefined, screen: Screen): string {
  const {bold, dim} = theme(screen);
  return indented(`${bold(message)}${note === undefined ? '' : dim(` (${note})`)}`, screen).slice(INDENT.length);
}

/** A question and its answer, the same whether a person, a flag or the cluster gave it. */
export function answeredText(message: string, answer: string, from: string | undefined, screen: Screen): string {
  const {cyan, dim, green} = theme(screen);
  return paragraph(`${green('✔')} `, `${message} ${cyan(answer)}${from === undefined ? '' : dim(` (${from})`)}`, screen);
}

/** An answer that was known without a question, as if it had been given to one. */
export function knownText(setting: Setting, answer: Answer, screen: Screen): string {
  const source = setting.onlyEnv ?? (answer.because === undefined ? FROM[answer.source] : `${FROM[answer.source]}: ${answer.because}`);
  return answeredText(setting.question, answerText(setting, answer), source, screen);
}

/** An answer on one line, without secrets. */
export function answerText({kind}: Setting, {value, given}: Answer): string {
  if (given !== undefined) return given;
  if (kind.isSecret) return '[hidden]';
  if (kind.isSwitch) return value ? 'yes' : 'no';
  const text = kind.format(value).join(', ');
  return kind.shown?.(value as never) ?? (text === '' ? 'none' : text);
}

/** The default and where it comes from: "https://acme.scalr.io, the token" */
export const noteOf = (...parts: readonly (string | undefined)[]): string | undefined => parts.filter(Boolean).join(', ') || undefined;

/** All that is shown of a secret: its length, which tells that it was pasted whole. */
export const masked = (secret: string): string =>
  secret === '' ? '' : `[hidden, ${secret.length} ${secret.length === 1 ? 'character' : 'characters'}]`;
