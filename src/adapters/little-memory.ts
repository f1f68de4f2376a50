import {setFlagsFromString} from 'node:v8';

/**
 * By so much more than what is in use V8's heap may grow before all of it is looked through, from the next time on. With a bundle that is
 * small that is not worth while.
 */
export function setHeapGrowth(percent: number): void {
  setFlagsFromString(`--heap-growing-percent=${percent}`);
}

const FRUGAL = [
  // Otherwise V8 answers garbage with more room for it instead of sweeping more often: 100 MB more on Node.js 24, for no speed.
  '--semi-space-growth-factor=1',
  // What is made while others are marked bit by bit grows old with them; all at once takes 20 ms, and nobody waits for those.
  '--no-incremental-marking',
  // What is young is little, and helpers take their time from the one that works.
  '--no-parallel-scavenge',
  // For who sweeps buffers.
  '--expose-gc',
];

/**
 * For a program through which more streams than it may hold. A V8 that no longer knew a flag would say so on stderr and go on. Before
 * anything is loaded: code that was compiled under other flags is not taken.
 */
export function keepMemoryLow(): void {
  for (const flag of FRUGAL) setFlagsFromString(flag);
  setHeapGrowth(100);
  if (process.versions.v8.startsWith('11.')) leaveNode20Time();
}

/** It takes less memory than newer ones, and its one compiler that optimizes takes time that is needed for other things. */
function leaveNode20Time(): void {
  setHeapGrowth(200);
  setFlagsFromString('--interrupt-budget=200000');
}
