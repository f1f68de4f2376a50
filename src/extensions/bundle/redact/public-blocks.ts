import {matchAt} from '../../../ground/token-shapes.ts';

const PUBLIC_BLOCK = /-----BEGIN (?!(?:[A-Z0-9]+ )*PRIVATE)[A-Z0-9 ]{4,40}-----/y;
/** The longest certificate. */
const LONGEST_BLOCK = 6000;

/** Whether a place is in a certificate or a public key that begins at `mark`. */
export function isInPublicBlock(text: string, mark: number, at: number): boolean {
  if (mark === -1 || mark > at || at - mark > LONGEST_BLOCK) return false;
  return (
    matchAt(PUBLIC_BLOCK, text, mark) !== undefined && !text.slice(mark, at).includes('-----END')
  );
}

/** Start of the last block before a place, certificates and public keys among them; -1 if there is none. */
export function lastBlockBefore(text: string, at: number): number {
  const floor = Math.max(0, at - LONGEST_BLOCK);
  const mark = text.slice(floor, at).lastIndexOf('-----BEGIN ');
  return mark === -1 ? -1 : floor + mark;
}
