import fc from 'fast-check';
import {expect, test} from 'vitest';
import {crc32, slowCrc32} from '../../src/adapters/crc32.ts';

test('an old Node.js gets the same sums, in one piece or in several', () => {
  expect(slowCrc32(Buffer.from('123456789'))).toBe(0xcbf43926);
  fc.assert(
    fc.property(fc.uint8Array({maxLength: 300}), fc.nat(300), (bytes, at) => {
      const [before, after] = [Buffer.from(bytes.subarray(0, at)), Buffer.from(bytes.subarray(at))];
      expect(slowCrc32(after, slowCrc32(before))).toBe(crc32(Buffer.from(bytes)));
    }),
  );
});
