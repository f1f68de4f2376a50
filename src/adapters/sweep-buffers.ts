import {runInNewContext} from 'node:vm';
import {setHeapGrowth} from './little-memory.ts';

/** So much passes through between two looks at how much of it is still there. */
const BETWEEN_LOOKS = 1024 * 1024;
/** What has passed through and takes no more room than this may stay. */
const TOLERATED = 6 * 1024 * 1024;

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
  sweep ??= sweeper();
  sweep?.({type: 'minor'});
  if (buffers() < kept + TOLERATED) return;
  sweep?.();
  kept = buffers();
}

function sweeper(): Sweep | undefined {
  // With so much that passes through, the heap has to stay small as well.
  setHeapGrowth(100);
  return runInNewContext('globalThis.gc');
}

const buffers = (): number => process.memoryUsage().arrayBuffers;
