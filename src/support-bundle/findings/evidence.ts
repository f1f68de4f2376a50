import type {Target} from '../../charts/define.ts';
import type {TextFile} from '../collect/object-files.ts';
import type {LogRecord} from '../collect/read-logs.ts';

/** Where something can be seen in the bundle. */
export interface Place {
  evidence: string;
  /** 1-based, as the file is in the bundle; absent where it is about all of it. */
  line?: number;
}

/** So much of what somebody said is enough to know it again, whoever it is about. */
const ENOUGH_WORDS = 20;

/** The innermost of what was said: its beginning differs with who repeats it. */
export const lastWords = (reason: string): string =>
  (
    reason
      .replace(/ \(and \d+ more \w+\)$/, '')
      .replace(/…$/, '')
      .split(': ')
      .at(-1) ?? ''
  ).slice(-2 * ENOUGH_WORDS);

/** Finds the file and the line in which something stands. */
export class Evidence {
  readonly #files: ReadonlyMap<string, string>;
  readonly #moved: ReadonlySet<string>;
  readonly #logs: ReadonlyMap<string, LogRecord>;
  readonly #lines = new Map<string, readonly string[]>();

  constructor(texts: readonly TextFile[], moved: ReadonlySet<string>, logs: readonly LogRecord[]) {
    this.#files = new Map(texts.map(({name, text}) => [name, text]));
    this.#moved = moved;
    this.#logs = new Map(logs.map((log) => [log.file, log]));
  }

  /** The newest event with these words, about this object if there is one, or what Kubernetes last warned of it. */
  inEvents(kind: string, name: string, reason: string): Place | undefined {
    const words = lastWords(reason);
    const lines = this.#linesOf('events.txt');
    const isAbout = (line: string): boolean => line.toLowerCase().includes(`  ${kind}/${name}  `);
    const says = (line: string): boolean => line.replaceAll(/\s+/g, ' ').includes(words);
    for (const fits of [
      (line: string) => isAbout(line) && says(line),
      (line: string) => words.length >= ENOUGH_WORDS && says(line),
      (line: string) => isAbout(line) && line.includes('  Warning  '),
    ]) {
      const at = lines.findLastIndex(fits);
      if (at >= 0) return this.#place('events.txt', at);
    }
    return undefined;
  }

  /** The file of an object, at the first line with one of the words, else where its status begins. */
  inObject(kind: string, name: string, ...words: readonly string[]): Place | undefined {
    const file = `objects/${kind}/${name}.json`;
    return this.inFile(file, ...words, '  "status": {') ?? this.inFile(`gone/${file}`, ...words, '  "status": {');
  }

  /** A file at the first line with the first of the words that is in it. */
  inFile(file: string, ...words: readonly string[]): Place | undefined {
    if (!this.#files.has(file)) return undefined;
    const at = words.map((word) => this.#linesOf(file).findIndex((line) => line.includes(word))).find((index) => index >= 0);
    return at === undefined ? {evidence: file} : this.#place(file, at);
  }

  /** Which version of a chart a release has: as helm recorded it, else as its objects are labelled. */
  ofVersion(release: string, {chart, version}: Target): Place | undefined {
    const id = `${chart}-${version}`;
    const history = `releases/${release}/history.json`;
    const newest = this.#linesOf(history).findLastIndex((line) => line.includes(id));
    if (newest >= 0) return this.#place(history, newest);
    const file = [...this.#files].find(([name, text]) => /^objects\/(deployment|daemonset)\//.test(name) && text.includes(id))?.[0];
    return file === undefined ? undefined : this.inFile(file, id);
  }

  /** What a container said last: before it was restarted, if that was read. */
  inLastWords(pod: string, container: string): Place | undefined {
    const [before, now] = ['previous.log', 'log'].map((end) => this.#logs.get(`logs/${pod}/${container}.${end}`));
    const log = before?.lines ? before : now?.lines ? now : undefined;
    return log && {evidence: log.file, line: log.lines};
  }

  #place = (evidence: string, index: number): Place => (this.#moved.has(evidence) ? {evidence} : {evidence, line: index + 1});

  #linesOf(file: string): readonly string[] {
    const known = this.#lines.get(file) ?? (this.#files.get(file) ?? '').split('\n');
    this.#lines.set(file, known);
    return known;
  }
}

/** Something that support would look at first. */
export interface Finding {
  /** `info` is no problem: it says what support asks next. */
  severity: 'error' | 'warning' | 'info';
  code: string;
  /** What it is about: pod/name, release/name. */
  object: string;
  message: string;
  /** The file of the bundle where it can be seen. */
  evidence?: string;
  /** Of that file, 1-based. */
  line?: number;
  remedy: string;
}

/** Pods of one workload that fare the same are told once. */
export function foldAlike(found: readonly {key: string; finding: Finding}[]): Finding[] {
  const groups = new Map<string, Finding[]>();
  for (const {key, finding} of found) groups.set(key, [...(groups.get(key) ?? []), finding]);
  return [...groups.values()].map((alike) => {
    const [first] = alike as [Finding];
    const more = new Set(alike.map(({object}) => object)).size - 1;
    return more === 0 ? first : {...first, message: `${first.message} (and ${more} more ${more === 1 ? 'pod' : 'pods'})`};
  });
}
