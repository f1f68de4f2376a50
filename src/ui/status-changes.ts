import {driftFinding} from '../checks/status/drift-finding.ts';
import type {ExpectedError} from '../ground/errors.ts';
import type {Finding} from '../ground/finding.ts';
import {findingLine, verdictMark} from './finding-text.ts';
import {fittedLines, LiveLines} from './live-lines.ts';
import {type ShownStatus, statusText} from './status.ts';
import {
  agentsFact,
  cacheFact,
  chartFact,
  controllerFact,
  recordFact,
  runsFact,
  valuesFact,
  verdictOf,
  workloadFact,
} from './status-facts.ts';
import {paragraph, type Screen} from './theme.ts';

/** Prints the full status once, and then one line per change. On a terminal, the status stays below these lines and is replaced in place. */
export class StatusReporter {
  readonly #lines: LiveLines;
  readonly #screen: Screen;
  #known: ReadonlyMap<string, string> | undefined;
  #lastMessage: string | undefined;

  constructor(write: (text: string) => void, screen: Screen) {
    this.#lines = new LiveLines({
      write,
      get columns() {
        return screen.columns;
      },
    });
    this.#screen = screen;
  }

  status(shown: ShownStatus): void {
    const facts = factsOf(shown, this.#screen);
    if (this.#lastMessage !== undefined)
      this.#writeLine(shown.now, 'The API server is reachable again');
    this.#lastMessage = undefined;
    for (const text of changes(this.#known ?? facts, facts)) this.#writeLine(shown.now, text);
    const text = statusText(shown, this.#screen);
    if (this.#screen.isLive) this.#lines.draw(fittedLines(text, this.#screen));
    else if (this.#known === undefined) this.#lines.print(text);
    this.#known = facts;
  }

  error({code, message}: ExpectedError, now: Date): void {
    const finding: Finding = {code, verdict: 'unknown', subject: {}, message, remedies: []};
    if (message !== this.#lastMessage) this.#writeLine(now, markedLine(finding, this.#screen));
    this.#lastMessage = message;
  }

  #writeLine(now: Date, text: string): void {
    this.#lines.print(paragraph(`${now.toISOString().slice(11, 19)}Z `, text, this.#screen));
  }
}

function* changes(
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
): Iterable<string> {
  for (const [key, text] of after) if (before.get(key) !== text) yield text;
  for (const key of before.keys()) if (!after.has(key)) yield `✓ resolved: ${key}`;
}

/** Facts that are reported when they change, by key. */
function factsOf({name, status, files}: ShownStatus, screen: Screen): Map<string, string> {
  const labeled = (label: string, text: string | undefined): [string, string][] =>
    text === undefined ? [] : [[label, `${label}: ${text}`]];
  return new Map([
    ...status.workloads.map((each): [string, string] => [each.object, workloadFact(each, screen)]),
    ...labeled('release', recordFact(status)),
    ...labeled('controller', controllerFact(status)),
    ...labeled('chart', chartFact(status)),
    ...labeled('images', status.images.join(', ') || undefined),
    ...(status.objects ?? []).map((each): [string, string] => [
      `${each.object} ${each.problem}`,
      markedLine(driftFinding(each), screen),
    ]),
    ...labeled('agents', agentsFact(status)),
    ...labeled('runs', runsFact(status)),
    ...labeled('cache', cacheFact(status)),
    ...labeled('values', valuesFact(status, files)),
    ...[...status.causes, ...status.recent, ...status.advice].map((each) => keyed(each, screen)),
    ...status.unread.map((each): [string, string] => [
      `unread ${each.subject.object}`,
      markedLine({...each, remedies: []}, screen),
    ]),
    ['verdict', verdictOf(name, status, screen)],
  ]);
}

const keyed = (finding: Finding, screen: Screen): [string, string] => [
  'object' in finding.subject ? `${finding.subject.object} ${finding.code}` : finding.code,
  markedLine(finding, screen),
];

const markedLine = (finding: Finding, screen: Screen): string =>
  `${verdictMark(finding.verdict, screen)} ${finding.code}  ${findingLine(finding)}`;
