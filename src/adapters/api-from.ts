import type {ClusterApi, LogStream, Trouble} from '../ports/cluster-api.ts';
import {follow} from '../ports/follow.ts';
import {retries} from './api-retries.ts';
import {answerFrom} from './read-answer.ts';

export interface Request {
  path: string;
  /** A log may wait for its reader and a question does not; what is followed has no end. */
  sort: 'question' | 'log' | 'followed';
  over: AbortSignal;
  idleMs: number;
  /** To be called once what was opened has ended. */
  release: () => void;
}

/** Success whose content is still to be read, or trouble. */
export type Opened = {status: number; log: LogStream; date?: Date; trouble?: undefined} | {trouble: Trouble};

const IDLE_MS = 20_000;

/** An API on top of what makes a single attempt at a request. */
export function apiFrom(open: (request: Request) => Promise<Opened>, end: () => void = () => undefined): ClusterApi {
  const closing = new AbortController();
  const persistently = retries();
  return {
    async get(path, {over, idleMs = IDLE_MS}) {
      const {signal, release} = follow(over, closing.signal);
      try {
        return await persistently(async () => {
          const opened = await open({path, sort: 'question', over: signal, idleMs, release: () => undefined});
          return opened.trouble ? opened : answerFrom(opened.status, opened.log, opened.date);
        }, signal);
      } finally {
        release();
      }
    },
    async stream(path, {over, idleMs = IDLE_MS, follows = false}) {
      const {signal, release} = follow(over, closing.signal);
      const opened = await persistently(() => open({path, sort: follows ? 'followed' : 'log', over: signal, idleMs, release}), signal);
      if (opened.trouble === undefined) return opened.log;
      release();
      return opened;
    },
    async close() {
      closing.abort();
      end();
    },
  };
}
