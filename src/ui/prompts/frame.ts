import {paragraph, type Screen, theme} from '../theme.ts';

/** A question while it waits: what Enter alone means stands behind it. */
export function askingLine(message: string, note: string | undefined, screen: Screen): string {
  const {bold, cyan, dim} = theme(screen);
  return `${cyan('?')} ${bold(message)}${note === undefined ? '' : dim(` (${note})`)}`;
}

/** A question and its answer, the same whether a person, a flag or the cluster gave it. */
export function answeredLine(message: string, answer: string, from: string | undefined, screen: Screen): string {
  const {cyan, dim, green} = theme(screen);
  return paragraph(`${green('✔')} `, `${message} ${cyan(answer)}${from === undefined ? '' : dim(` (${from})`)}`, screen).trimEnd();
}

export const helpText = (help: readonly string[], screen: Screen): string =>
  help.map((line) => paragraph('  ', theme(screen).dim(line), screen)).join('');

/** What stands below a question: help where it was asked for, a problem, and the keys. */
export function footer({help, problem, isRefused, keys}: Footer, screen: Screen): string {
  const {dim, red, yellow} = theme(screen);
  const lines = [
    helpText(help, screen),
    problem === undefined ? '' : paragraph('  ', (isRefused ? red : yellow)(problem), screen),
    keys === '' ? '' : `  ${dim(keys)}`,
  ];
  return lines.join('').trimEnd();
}

interface Footer {
  help: readonly string[];
  problem?: string | undefined;
  /** It was entered, and not only typed so far. */
  isRefused?: boolean;
  keys: string;
}

/** The default and where it comes from: "https://acme.scalr.io, from the token" */
export const noteOf = (value: string | undefined, note: string | undefined): string | undefined =>
  value === undefined ? note : [value, note].filter((part) => part !== undefined).join(', ');
