import {readFileSync} from 'node:fs';

/** What a program wrote to the pipe that `PEAK_PRELOAD` uses: the most memory it ever held, in KiB. */
export const PEAK_FD = 3;

/** For `node --import`: says at the end how much memory the program took, and is nothing it would have noticed before. */
export const PEAK_PRELOAD = `data:text/javascript,${encodeURIComponent(
  `import {writeSync} from 'node:fs'; process.once('exit', () => writeSync(${PEAK_FD}, String(process.resourceUsage().maxRSS)));`,
)}`;

/** Of the programs below this one, by the kernel's own account; 0 where there is no such account, or no such program any more. */
export const peakBelow = (pid: number): number => Math.max(0, ...childrenOf(pid).flatMap((child) => [peakOf(child), peakBelow(child)]));

const childrenOf = (pid: number): number[] => words(`/proc/${pid}/task/${pid}/children`).map(Number);

const peakOf = (pid: number): number => {
  const all = words(`/proc/${pid}/status`);
  return Number(all[all.indexOf('VmHWM:') + 1] ?? 0);
};

function words(path: string): string[] {
  try {
    return readFileSync(path, 'utf8').split(/\s+/).filter(Boolean);
  } catch {
    return [];
  }
}
