import {setFlagsFromString} from 'node:v8';
import {runInNewContext} from 'node:vm';

/** So much passes through between two looks at how much of it is still there. */
const BETWEEN_LOOKS = 4 * 1024 * 1024;
/** What has passed through and takes no more room than this may stay. */
const TOLERATED = 8 * 1024 * 1024;

/**
 * For a program through which more streams than it may hold. A V8 that no longer knew a flag would say so on stderr and go on. Before
 * anything is loaded: code that was compiled under other flags is not taken.
 */
export function keepMemoryLow(): void {
  // Otherwise V8 answers garbage with more room for it instead of sweeping more often: 100 MB more on Node.js 24, for no speed.
  setFlagsFromString('--semi-space-growth-factor=1');
  setFlagsFromString('--heap-growing-percent=100');
  // A program of a second has little of code that is optimized, and the core is needed for other things: a tenth of its time.
  setFlagsFromString('--interrupt-budget=200000');
  setFlagsFromString('--expose-gc');
}

type Sweep = (wish?: {type: 'minor'}) => void;
let sweep: Sweep | undefined;
let passed = 0;
let kept = 0;

/** Says that so many bytes came in. V8 hardly sees buffers, which lie outside of its heap, and leaves tens of megabytes of them unswept. */
export function sweepBuffers(bytes: number): void {
  passed += bytes;
  if (passed < BETWEEN_LOOKS) return;
  passed = 0;
  if (buffers() < kept + TOLERATED) return;
  sweep ??= runInNewContext('globalThis.gc') as Sweep | undefined;
  sweep?.({type: 'minor'});
  if (buffers() < kept + TOLERATED) return;
  sweep?.();
  kept = buffers();
}

const buffers = (): number => process.memoryUsage().arrayBuffers;
