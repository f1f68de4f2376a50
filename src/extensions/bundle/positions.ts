import type {Target} from '../../charts/releases/target.ts';
import type {LogRecord} from '../../checks/diagnose/log-matcher.ts';
import type {Evidence} from '../../ground/finding.ts';

/** Length of a message that is sufficient to find it again. */
const MIN_TEXT_LENGTH = 20;

/** The innermost part of a message: its prefix differs by reporter. */
export const innermostMessage = (reason: string): string =>
  (
    reason
      .replace(/ \(and \d+ more \w+\)$/, '')
      .replace(/…$/, '')
      .split(': ')
      .at(-1) ?? ''
  ).slice(-2 * MIN_TEXT_LENGTH);

/** Finds the file and line of a finding. */
export class BundlePositions {
  readonly #files: ReadonlyMap<string, string>;
  readonly #moved: ReadonlySet<string>;
  readonly #logs: ReadonlyMap<string, LogRecord>;
  readonly #lines = new Map<string, readonly string[]>();

  constructor(
    texts: readonly {name: string; text: string}[],
    moved: ReadonlySet<string>,
    logs: readonly LogRecord[],
  ) {
    this.#files = new Map(texts.map(({name, text}) => [name, text]));
    this.#moved = moved;
    this.#logs = new Map(logs.map((log) => [log.file, log]));
  }

  /** The newest event with this text, about this object if possible, or its last warning. */
  inEvents(kind: string, name: string, reason: string): Evidence | undefined {
    const text = innermostMessage(reason);
    const lines = this.#linesOf('events.txt');
    const isAbout = (line: string): boolean => line.toLowerCase().includes(`  ${kind}/${name}  `);
    const hasText = (line: string): boolean => line.replaceAll(/\s+/g, ' ').includes(text);
    for (const matchesLine of [
      (line: string) => isAbout(line) && hasText(line),
      (line: string) => text.length >= MIN_TEXT_LENGTH && hasText(line),
      (line: string) => isAbout(line) && line.includes('  Warning  '),
    ]) {
      const at = lines.findLastIndex(matchesLine);
      if (at >= 0) return this.#place('events.txt', at);
    }
    return undefined;
  }

  /** File of an object, at the first line with one of the texts, otherwise at its status. */
  inObject(kind: string, name: string, ...texts: readonly string[]): Evidence | undefined {
    const file = `objects/${kind}/${name}.json`;
    return (
      this.inFile(file, ...texts, '  "status": {') ??
      this.inFile(`gone/${file}`, ...texts, '  "status": {')
    );
  }

  /** A file at the first line with the first text that it contains. */
  inFile(file: string, ...texts: readonly string[]): Evidence | undefined {
    if (!this.#files.has(file)) return undefined;
    const at = texts
      .map((text) => this.#linesOf(file).findIndex((line) => line.includes(text)))
      .find((index) => index >= 0);
    return at === undefined ? {file} : this.#place(file, at);
  }

  /** Chart version of a release: from Helm, otherwise from labels of its objects. */
  ofVersion(release: string, {chart, version}: Target): Evidence | undefined {
    const id = `${chart}-${version}`;
    const history = `releases/${release}/history.json`;
    const newest = this.#linesOf(history).findLastIndex((line) => line.includes(id));
    if (newest >= 0) return this.#place(history, newest);
    const file = [...this.#files].find(
      ([name, text]) => /^objects\/(deployment|daemonset)\//.test(name) && text.includes(id),
    )?.[0];
    return file === undefined ? undefined : this.inFile(file, id);
  }

  /** Last log of a container: before its restart, if that was read. */
  inLastWords(pod: string, container: string): Evidence | undefined {
    const log = ['previous.log', 'log']
      .map((end) => this.#logs.get(`logs/${pod}/${container}.${end}`))
      .find((each) => each?.lines);
    return log && {file: log.file, line: log.lines};
  }

  #place = (file: string, index: number): Evidence =>
    this.#moved.has(file) ? {file} : {file, line: index + 1};

  #linesOf(file: string): readonly string[] {
    const known = this.#lines.get(file) ?? (this.#files.get(file) ?? '').split('\n');
    this.#lines.set(file, known);
    return known;
  }
}
