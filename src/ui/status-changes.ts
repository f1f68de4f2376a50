import type {ExpectedError} from '../errors.ts';
import type {Status} from '../status/status.ts';
import {type Shown, statusText} from './status.ts';
import {agentsFact, chartFact, recordFact, runsFact, valuesFact, verdictOf, workloadFact} from './status-facts.ts';
import {paragraph, type Screen} from './theme.ts';

interface Reporter {
  status(shown: Shown): void;
  trouble(error: ExpectedError, now: Date): void;
}

/** Shows a status once as a whole, and then line by line what has become of it. */
export function changesReporter(write: (text: string) => void, screen: Screen): Reporter {
  let known: ReadonlyMap<string, string> | undefined;
  let said: string | undefined;
  const line = (now: Date, text: string): void => write(paragraph(`${now.toISOString().slice(11, 19)}Z `, text, screen));
  return {
    status(shown) {
      const facts = factsOf(shown, screen);
      if (said !== undefined) line(shown.now, 'The API server answers again');
      said = undefined;
      if (known === undefined) write(statusText(shown, screen));
      else for (const text of changes(known, facts)) line(shown.now, text);
      known = facts;
    },
    trouble({message}, now) {
      if (message !== said) line(now, `! ${message}`);
      said = message;
    },
  };
}

function* changes(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): Iterable<string> {
  for (const [key, text] of after) if (before.get(key) !== text) yield text;
  for (const key of before.keys()) if (!after.has(key)) yield `✓ no more: ${key}`;
}

/** All that is worth a line, by what it is about. */
function factsOf({name, status, files}: Shown, screen: Screen): Map<string, string> {
  const labelled = (label: string, text: string | undefined): [string, string][] =>
    text === undefined ? [] : [[label, `${label}: ${text}`]];
  return new Map([
    ...status.workloads.map((each): [string, string] => [each.object, workloadFact(each, screen)]),
    ...labelled('release', recordFact(status)),
    ...labelled('chart', chartFact(status)),
    ...labelled('agents', agentsFact(status)),
    ...labelled('runs', runsFact(status)),
    ...labelled('values', valuesFact(status, files)),
    ...causes(status),
    ['verdict', verdictOf(name, status, screen)],
  ]);
}

const causes = ({causes: found, unread}: Status): [string, string][] => [
  ...found.map(({object, code, reason, remedy}): [string, string] => [`${object} ${code}`, `! ${object}: ${reason} → ${remedy}`]),
  ...unread.map(({what, reason}): [string, string] => [`unread ${what}`, `! ${what}: ${reason}`]),
];
