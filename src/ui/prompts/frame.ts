import {paragraph, type Screen, theme} from '../theme.ts';

/** A question while it waits: what Enter alone means stands behind it. */
export function askingLines(message: string, note: string | undefined, screen: Screen): string[] {
  const {bold, cyan, dim} = theme(screen);
  return linesOf(`${cyan('?')} `, `${bold(message)}${note === undefined ? '' : dim(` (${note})`)}`, screen);
}

/** A question and its answer, the same whether a person, a flag or the cluster gave it. */
export function answeredText(message: string, answer: string, from: string | undefined, screen: Screen): string {
  const {cyan, dim, green} = theme(screen);
  return paragraph(`${green('✔')} `, `${message} ${cyan(answer)}${from === undefined ? '' : dim(` (${from})`)}`, screen);
}

/** Indented under the question. */
export const below = (text: string, colour: (text: string) => string, screen: Screen): string[] => linesOf('  ', colour(text), screen);

export const linesOf = (first: string, text: string, screen: Screen): string[] => paragraph(first, text, screen).slice(0, -1).split('\n');

export const helpLines = (help: readonly string[], screen: Screen): string[] =>
  help.flatMap((line) => below(line, theme(screen).dim, screen));

/** The default and where it comes from: "https://acme.scalr.io, from the token" */
export const noteOf = (value: string | undefined, note: string | undefined): string | undefined =>
  value === undefined ? note : [value, note].filter((part) => part !== undefined).join(', ');

/** All that is ever shown of a secret, so that whoever pastes one sees that it arrived. */
export const masked = (secret: string): string =>
  secret === '' ? '' : `[hidden, ${secret.length} ${secret.length === 1 ? 'character' : 'characters'}]`;
