import {setTimeout as wait} from 'node:timers/promises';

/** Waits until the time is over or the signal is aborted. */
export const sleep = async (milliseconds: number, signal: AbortSignal): Promise<void> => {
  await wait(milliseconds, undefined, {signal}).catch(() => undefined);
};
