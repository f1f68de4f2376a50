import type {ApiResult} from './client.ts';
import type {Reader} from './resources.ts';

/** Smaller differences are caused by response times and whole seconds in HTTP dates. */
const MIN_SKEW_MS = 60_000;

/** How far the clock of the server is ahead; zero if it is unknown or small. */
export function skewOf(answer: ApiResult, now: Date): number {
  if (answer.error || answer.date === undefined) return 0;
  const skew = answer.date.getTime() - now.getTime();
  return Math.abs(skew) < MIN_SKEW_MS ? 0 : skew;
}

/** The time of the cluster, which its objects, events and logs have. */
export class ServerClock {
  readonly #now: () => Date;
  #skewMs = 0;

  constructor(now: () => Date) {
    this.#now = now;
  }

  now(): Date {
    return new Date(this.#now().getTime() + this.#skewMs);
  }

  /** The same client, whose answers set the clock. */
  setBy<Client extends Reader>(client: Client): Client {
    return {
      ...client,
      get: async (path, options) => {
        const answer = await client.get(path, options);
        this.#skewMs = skewOf(answer, this.#now()) || this.#skewMs;
        return answer;
      },
    };
  }
}
