import {troubleOf} from './api-trouble.ts';

/**
 * Why a request has no answer, or not all of it. `not-started` is a container without a log as yet, `busy` a server that asked to be
 * left alone, `server` its own failure, `stalled` one that said nothing for too long, `truncated` an answer that broke off, `over`
 * that nobody wants it any more.
 */
export type TroubleKind =
  | 'not-logged-in'
  | 'forbidden'
  | 'not-found'
  | 'expired'
  | 'not-started'
  | 'refused'
  | 'busy'
  | 'server'
  | 'unreachable'
  | 'stalled'
  | 'truncated'
  | 'too-large'
  | 'over';

export interface Trouble {
  kind: TroubleKind;
  /** In the words of the API server where it had some. */
  message: string;
  /** Of HTTP, where there was one. */
  status?: number;
  /** When the server wants to be asked again. */
  retryAfterMs?: number;
  /** Where a list that went out of date can be continued all the same. */
  continueAt?: string;
}

/** JSON as it was parsed, any other text as a string. `date` is the clock of the server, where it says it. */
export type Answer = {status: number; body: unknown; date?: Date; trouble?: undefined} | {trouble: Trouble};

/** A log on its way. */
export interface LogStream {
  /** Never throws: it ends, and `end` says whether that was the end of the log. Its source is let go when nobody reads on. */
  chunks: AsyncIterable<Buffer>;
  /** Why it ended before its time; undefined when all of it came. Known once `chunks` has ended. */
  end: Promise<Trouble | undefined>;
  trouble?: undefined;
}

export interface Wish {
  /** Ends the request at once, retries too. */
  over: AbortSignal;
  /** How long the server may say nothing; time in which nobody reads does not count. */
  idleMs?: number;
}

/** Only reads. Whatever befalls a request is its answer; nothing is thrown. */
export interface ClusterApi {
  /** `path` as the API server knows it, escaped, with its query. */
  get(path: string, wish: Wish): Promise<Answer>;
  /** For what may be large, it is never held as a whole; or, where it `follows`, for what has no end. */
  stream(path: string, wish: Wish & {follows?: boolean}): Promise<LogStream | {trouble: Trouble}>;
  /** Requests under way end as `over`; nothing stays behind. May be called twice. */
  close(): Promise<void>;
}

export interface Listing {
  items: readonly unknown[];
  /** Why it is not all; what came before is there. */
  trouble?: Trouble;
}

/** So that a page stays small in memory, whatever the objects are. */
const PAGE = 250;

/** A list in pages; one that went out of date on the way goes on with what is there now. */
export async function listAll(api: Pick<ClusterApi, 'get'>, path: string, wish: Wish, limit = PAGE): Promise<Listing> {
  const items: unknown[] = [];
  const pageAt = (next: string): string =>
    `${path}${path.includes('?') ? '&' : '?'}limit=${limit}${next === '' ? '' : `&continue=${encodeURIComponent(next)}`}`;
  for (let next: string | undefined = ''; next !== undefined; ) {
    const answer: Answer = await api.get(pageAt(next), wish);
    if (answer.trouble) {
      const {continueAt} = answer.trouble;
      if (continueAt === undefined || continueAt === next) return {items, trouble: answer.trouble};
      next = continueAt;
      continue;
    }
    const page = answer.body as {items?: unknown[]; metadata?: {continue?: string}} | null;
    if (!Array.isArray(page?.items)) return {items, trouble: troubleOf(answer.status, `${path} is no list`)};
    items.push(...page.items);
    next = page.metadata?.continue || undefined;
  }
  return {items};
}
