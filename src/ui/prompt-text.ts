import type {InputQuestion} from '../ground/system/system.ts';
import {count} from '../ground/text.ts';
import type {Setting} from '../settings/define.ts';
import type {Answer, AnswerSource} from '../settings/settings.ts';
import {paragraph, type Screen, theme} from './theme.ts';

const FROM: Readonly<Partial<Record<AnswerSource, string>>> = {
  answers: 'answers file',
  'values-file': 'values file',
  prompt: 'earlier answer',
  chart: 'chart default',
};

/** A question and its answer, the same whether a person, a flag or the cluster gave it. */
export function answeredText(
  message: string,
  answer: string,
  from: string | undefined,
  screen: Screen,
): string {
  const {cyan, dim, green} = theme(screen);
  return paragraph(
    `${green('✔')} `,
    `${message} ${cyan(answer)}${from === undefined ? '' : dim(` (${from})`)}`,
    screen,
  );
}

/** An answer that was known without a question, as if it had been given to one. */
export function knownText(setting: Setting, answer: Answer, screen: Screen): string {
  const source =
    answer.because === undefined
      ? sourceText(setting, answer)
      : `${sourceText(setting, answer)}: ${answer.because}`;
  return answeredText(setting.question, answerText(setting, answer), source, screen);
}

export const sourceText = ({onlyEnv}: Setting, {source}: Answer): string =>
  onlyEnv ?? FROM[source] ?? source;

/** An answer on one line, without secrets. */
export function answerText({kind, labels}: Setting, {value, given}: Answer): string {
  if (given !== undefined) return given;
  if (kind.isSecret) return '[hidden]';
  if (kind.isSwitch) return value ? 'yes' : 'no';
  if (labels?.[String(value)] !== undefined) return labels[String(value)] as string;
  const text = kind.format(value).join(', ');
  return kind.shown?.(value as never) ?? (text === '' ? 'none' : text);
}

/** The default and where it comes from: "https://acme.scalr.io, the token" */
export const noteOf = (...parts: readonly (string | undefined)[]): string | undefined =>
  parts.filter(Boolean).join(', ') || undefined;

/** A question to which Enter alone says no. */
export const yesOrNo = (message: string): InputQuestion => ({
  message,
  help: [],
  note: 'y/N',
  validate: (text) => (/^(y(es)?|no?)?$/i.test(text) ? undefined : 'Enter y or n'),
});

export const isYes = (answer: string): boolean => /^y/i.test(answer);

/** An agent pool token, or enough of it to recognize it. */
export const TOKEN = /eyJ[\w-]{5,}[\w.-]*/g;

/** The answer to a token at any other question. */
export const TOKEN_HERE =
  'This is an agent pool token. Paste it only where the agent pool token is asked for.';

/** Shows only the length of a secret, to check that it was pasted whole. */
export const masked = (secret: string): string =>
  secret === '' ? '' : `[hidden, ${count(secret.length, 'character')}]`;
