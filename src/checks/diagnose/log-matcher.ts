import {MAX_LINE_BYTES, NEWLINE} from '../../ground/line-streams.ts';

import {matchLine, SIGNIFICANT_LINE} from './agent-log.ts';

/** Log lines about the agent, grouped by meaning. */
export interface LogMatch {
  /** `READY`, or the code of a row of AGENT_LOG_ROWS. */
  meaning: string;
  count: number;
  /** The newest line, 1-based. */
  line: number;
  /** Without format. */
  text: string;
  at: string | undefined;
}

const SIGNIFICANT_LINES = new RegExp(SIGNIFICANT_LINE, 'gi');
const EMPTY = Buffer.alloc(0);

/** Reads a log while it is written to the bundle: counts its lines and records their meanings. */
export class LogMatcher {
  #lines = 0;
  /** An incomplete line. */
  #open: Buffer = EMPTY;
  readonly #matches = new Map<string, LogMatch>();
  #cacheUse: CacheUse | undefined;

  push(chunk: Buffer): void {
    let from = 0;
    if (this.#open.length > 0) {
      from = chunk.indexOf(NEWLINE) + 1;
      const line = Buffer.concat([this.#open, chunk.subarray(0, from || chunk.length)]);
      this.#open = from === 0 ? line.subarray(0, MAX_LINE_BYTES) : EMPTY;
      if (from === 0) return;
      this.#read(line);
    }
    const end = chunk.lastIndexOf(NEWLINE) + 1;
    this.#read(chunk.subarray(from, end));
    this.#open = Buffer.from(chunk.subarray(end, end + MAX_LINE_BYTES));
  }

  /** Line count of all chunks; the last line may be incomplete. */
  end(): {lines: number; matches: LogMatch[]; cacheUse?: CacheUse} {
    if (this.#open.length > 0) this.#read(Buffer.concat([this.#open, Buffer.from('\n')]));
    this.#open = EMPTY;
    return {
      lines: this.#lines,
      matches: [...this.#matches.values()],
      ...(this.#cacheUse ? {cacheUse: this.#cacheUse} : {}),
    };
  }

  /** Whole lines. */
  #read(bytes: Buffer): void {
    // One character per byte, so that positions match.
    const text = bytes.toString('latin1');
    this.#cacheUse = sumOfCacheUse([this.#cacheUse, cacheUseIn(text)]);
    let counted = 0;
    const countTo = (position: number): void => {
      for (
        let at = text.indexOf('\n', counted);
        at !== -1 && at < position;
        at = text.indexOf('\n', counted)
      ) {
        this.#lines += 1;
        counted = at + 1;
      }
    };
    SIGNIFICANT_LINES.lastIndex = 0;
    for (
      let found = SIGNIFICANT_LINES.exec(text);
      found !== null;
      found = SIGNIFICANT_LINES.exec(text)
    ) {
      const start = text.lastIndexOf('\n', found.index) + 1;
      const end = text.indexOf('\n', found.index);
      countTo(start);
      this.#match(bytes.toString('utf8', start, Math.min(end, start + MAX_LINE_BYTES)));
      SIGNIFICANT_LINES.lastIndex = end;
    }
    countTo(text.length);
  }

  #match(line: string): void {
    const found = matchLine(withoutPrefix(line));
    if (found === undefined) return;
    const count = (this.#matches.get(found.meaning)?.count ?? 0) + 1;
    this.#matches.set(found.meaning, {...found, count, line: this.#lines + 1});
  }
}

/** Docker and kubelets add a timestamp to every line, the journal also host and process; JSON logs of the agent have their own timestamp. */
export const withoutPrefix = (line: string): string =>
  line
    .replace(/^(\d{4}-\d\d-\d\dT\S+ )(?:\S+ \S+?\[\d+\]: )?/, '$1')
    .replace(/^\d{4}-\d\d-\d\dT\S+ (?=\{)/, '');

/** A log in the bundle. */
export interface LogRecord {
  file: string;
  bytes: number;
  tail: string;
  lines: number;
  matches: readonly LogMatch[];
  cacheUse?: CacheUse;
  /** Bytes cut from the middle. */
  cut?: number;
  /** Time of the last line before the cut. */
  cutAfter?: string | undefined;
  /** The log may have more lines that could not be read. */
  isPart?: boolean;
}

/** Number of providers and modules that runs installed, and that came from the cache. */
export interface CacheUse {
  plugins: Share;
  modules: Share;
}

interface Share {
  installed: number;
  cached: number;
}

/**
 * Log line of a run that installs providers and modules: `Initialized 8 modules in 4.12s (8 used from cache)`, or both in one line:
 * `Initialized 20 plugins and 3 modules in 6.09s (20 plugins used from cache)`.
 */
const LINE =
  /Initialized (\d+ (?:plugin|module)s?(?: and \d+ modules?)?) in [\d.]+ ?m?s(?: \(([^()\n]*?) used from cache\))?/g;

/** Sum over the lines of a log; undefined if there are none. Pure. */
export const cacheUseIn = (log: string): CacheUse | undefined =>
  sumOfCacheUse(
    [...log.matchAll(LINE)].map(([, installed = '', cached = '']) => {
      const about = /module/.test(installed) && !/plugin/.test(installed) ? 'modules' : 'plugins';
      const shareOf = (kind: keyof CacheUse): Share => ({
        installed: countIn(installed, kind, about),
        cached: countIn(cached, kind, about),
      });
      return {plugins: shareOf('plugins'), modules: shareOf('modules')};
    }),
  );

/** `20 plugins and 3 modules`, or only a number, which counts the kind of the line. */
const countIn = (text: string, desired: keyof CacheUse, about: keyof CacheUse): number =>
  total(
    [...text.matchAll(/(\d+)(?: (plugin|module))?/g)].map(([, count, kind]) =>
      (kind ? `${kind}s` : about) === desired ? Number(count) : 0,
    ),
  );

const total = (numbers: readonly number[]): number => numbers.reduce((sum, each) => sum + each, 0);

/** Sum over several logs; undefined if no log has such lines. Pure. */
export function sumOfCacheUse(uses: readonly (CacheUse | undefined)[]): CacheUse | undefined {
  const found = uses.filter((use) => use !== undefined);
  if (found.length === 0) return undefined;
  const sumOf = (kind: keyof CacheUse): Share => ({
    installed: total(found.map((use) => use[kind].installed)),
    cached: total(found.map((use) => use[kind].cached)),
  });
  return {plugins: sumOf('plugins'), modules: sumOf('modules')};
}

/** 20 of 20 plugins and 8 of 8 modules used from the cache */
export function cacheUseText(use: CacheUse): string {
  const shares = (['plugins', 'modules'] as const)
    .filter((kind) => use[kind].installed > 0)
    .map((kind) => `${use[kind].cached} of ${use[kind].installed} ${kind}`);
  return `${shares.join(' and ') || 'no plugins or modules'} used from the cache`;
}
