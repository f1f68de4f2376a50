import {readFileSync} from 'node:fs';

/** File descriptor to which `PEAK_PRELOAD` writes the peak memory in KiB. */
export const PEAK_FD = 3;

/** For `node --import`: reports the peak memory of the program when it exits. */
export const PEAK_PRELOAD = `data:text/javascript,${encodeURIComponent(
  `import {writeSync} from 'node:fs'; process.once('exit', () => writeSync(${PEAK_FD}, String(process.resourceUsage().maxRSS)));`,
)}`;

/** Peak memory in KiB of child processes with this word in their command line; 0 if unavailable. */
export const peakBelow = (pid: number, word: string): number =>
  Math.max(
    0,
    ...childrenOf(pid).flatMap((child) => [
      hasWord(child, word) ? peakOf(child) : 0,
      peakBelow(child, word),
    ]),
  );

const hasWord = (pid: number, word: string): boolean =>
  words(`/proc/${pid}/cmdline`, '\0').includes(word);

const childrenOf = (pid: number): number[] =>
  words(`/proc/${pid}/task/${pid}/children`).map(Number);

const peakOf = (pid: number): number => {
  const all = words(`/proc/${pid}/status`);
  return all.includes('VmHWM:') ? Number(all[all.indexOf('VmHWM:') + 1]) : 0;
};

function words(path: string, between: RegExp | string = /\s+/): string[] {
  try {
    return readFileSync(path, 'utf8').split(between).filter(Boolean);
  } catch {
    return [];
  }
}
