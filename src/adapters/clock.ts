import {setTimeout as wait} from 'node:timers/promises';

/** Waits, and no longer than until the signal. */
export const sleep = async (milliseconds: number, signal: AbortSignal): Promise<void> => {
  await wait(milliseconds, undefined, {signal}).catch(() => undefined);
};
