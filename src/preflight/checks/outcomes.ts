import {type Fact, isKnown, type Unknown} from '../../cluster/facts/fact.ts';
import {type Outcome, type Status, skip} from '../check.ts';

/** What follows from a fact. Where that is unknown the check is skipped and says why; `what` is the subject: The nodes are. */
export const ifKnown = <T, O extends Outcome | undefined>(
  fact: Fact<T>,
  what: string,
  conclude: (value: T, source: string) => O,
): O | Outcome => (isKnown(fact) ? conclude(fact.value, fact.source) : skipped(fact, what));

export function skipped({unknown, because}: Unknown, what: string): Outcome {
  return skip(`${what} unknown: ${because}`, unknown === 'forbidden' ? 'Run it again as somebody who may read this' : undefined);
}

/** Why something could not be looked at, without what is unknown for it: many checks may have the same reason. */
export const reasonOf = ({message}: Outcome): string => message.replace(/^.*? (unknown|cannot be read): /s, '');

const ORDER: readonly Status[] = ['fail', 'warn', 'skip', 'pass'];

/** The worst of several outcomes, with everything that is as bad; undefined where there are none. */
export function worstOf(outcomes: readonly Outcome[]): Outcome | undefined {
  const status = ORDER.find((each) => outcomes.some((outcome) => outcome.status === each));
  if (status === undefined) return undefined;
  const worst = outcomes.filter((each) => each.status === status);
  const join = (texts: readonly (string | undefined)[]): string => [...new Set(texts.filter((text) => text !== undefined))].join('; ');
  const remedy = join(worst.map((each) => each.remedy));
  return {status, message: join(worst.map(({message}) => message)), ...(remedy === '' ? {} : {remedy})};
}

/** At most a few names, so that a line stays a line. */
export function few(names: readonly string[]): string {
  const shown = names.slice(0, 5).join(', ');
  return names.length > 5 ? `${shown} and ${names.length - 5} more` : shown;
}

/** 1 node, 2 nodes */
export const count = (number: number | bigint, thing: string): string => `${number} ${thing}${Number(number) === 1 ? '' : 's'}`;
