import type {ApiReader} from '../kubernetes/client.ts';
import type {ApiError} from '../ports/log-stream.ts';
import type {LogItem} from './log-items.ts';
import {LogPosition} from './log-position.ts';

/** How long after its end, or its trouble, a log is looked at again; twice as long after every refusal, so many times. */
const AGAIN_MS = 2000;
const MOST_DOUBLINGS = 3;
/** Agents without work say nothing for long; that nobody is there any more is found out by asking again. */
const QUIET_MS = 60_000;

/** It need not have been --timeout: --for is over sooner. */
const NOT_FOLLOWED: ApiError = {kind: 'over', message: 'it was not followed any longer'};

/** A container as it was seen last. */
export interface Life {
  restarts: number;
  isRunning: boolean;
}

interface World {
  api: Pick<ApiReader, 'stream'>;
  /** Nobody follows any more. */
  over: AbortSignal;
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>;
  /** Undefined when the pod has gone. */
  lifeNow(): Life | undefined;
}

/** One log that is followed over broken connections and restarts of its container, for as long as its pod is there. */
export class FollowedLog {
  readonly item: LogItem;
  readonly position = new LogPosition();
  /** Why the last connection ended early. */
  #trouble: ApiError | undefined;
  #refusals = 0;
  /** All of the last life that was followed came. */
  #isWhole = false;
  /** Why a life before is missing: for now, or because nobody can read it any more. */
  #missed: ApiError | undefined;
  #lost: ApiError | undefined;
  readonly #world: World;

  constructor(item: LogItem, world: World) {
    this.item = item;
    this.#world = world;
  }

  /** Why not all of it came; that it was not followed to its end is no reason. */
  get trouble(): ApiError | undefined {
    return this.#lost ?? this.#missed ?? (this.#trouble?.kind === 'over' ? undefined : this.#trouble);
  }

  /** Its pod is there, and may have said more since. */
  get goesOn(): boolean {
    const life = this.#world.lifeNow();
    return life !== undefined && (this.#trouble !== undefined || life.isRunning);
  }

  async *chunks(): AsyncGenerator<Buffer> {
    const {path, isPrevious} = this.item;
    let restarts = this.#world.lifeNow()?.restarts ?? 0;
    for (let life: Life | undefined = {restarts, isRunning: true}; life !== undefined; life = await this.#next(restarts)) {
      if (life.restarts > restarts) yield* this.#readMissed(life.restarts - restarts);
      if (this.#missed !== undefined) continue;
      restarts = life.restarts;
      yield* this.#read(isPrevious ? path : `${path}&follow=true`);
      this.#isWhole = this.#trouble === undefined;
    }
    yield this.position.rest();
  }

  async *#read(path: string): AsyncGenerator<Buffer> {
    const {api, over} = this.#world;
    const stream = await api.stream(this.position.from(path), {over, idleMs: QUIET_MS, follows: true});
    if (stream.trouble === undefined) yield* this.position.news(stream.chunks);
    this.#refusals = stream.trouble === undefined ? 0 : Math.min(this.#refusals + 1, MOST_DOUBLINGS);
    this.#trouble = stream.trouble ?? (await stream.end);
  }

  /** What it said before it was restarted, unless all of that came; only the last life before is kept by nodes. */
  async *#readMissed(restarts: number): AsyncGenerator<Buffer> {
    const unread = restarts - (this.#isWhole ? 1 : 0);
    if (unread === 0) return;
    if (unread > 1) this.#lost = {kind: 'truncated', message: `it restarted ${restarts} times while nobody could follow it`};
    yield* this.#read(`${this.item.path}&previous=true`);
    const isOver = this.#trouble === undefined || this.#trouble.kind === 'not-started' || this.#trouble.kind === 'not-found';
    this.#missed = isOver ? undefined : this.#trouble?.kind === 'over' ? NOT_FOLLOWED : this.#trouble;
    if (this.#trouble?.kind === 'not-found') this.#lost ??= this.#trouble;
  }

  /** Waits until there is something to read again; undefined when there will be nothing. */
  async #next(restarts: number): Promise<Life | undefined> {
    const {over, sleep, lifeNow} = this.#world;
    if (this.item.isPrevious && this.#trouble === undefined) return undefined;
    for (;;) {
      await sleep(AGAIN_MS * 2 ** this.#refusals, over);
      const life = lifeNow();
      if (over.aborted || life === undefined) return undefined;
      if (this.#trouble !== undefined || life.isRunning || life.restarts > restarts) return life;
    }
  }
}
