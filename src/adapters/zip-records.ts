/** What a directory says of an entry. */
export interface ZipEntry {
  name: string;
  crc32: number;
  bytes: number;
  packedBytes: number;
  /** Where its header begins. */
  at: number;
}

const UNIX_63 = (3 << 8) | 63;
const NEEDS = {usual: 20, zip64: 45};
/** Checksum and sizes follow the content; names are UTF-8. */
const FLAGS = (1 << 3) | (1 << 11);
const DEFLATED = 8;
/** Equal data gives equal bytes: midnight of the first day that zip knows, and no owner. */
const [TIME, DATE] = [0, (1 << 5) | 1];
const REGULAR_FILE_OF_OWNER = (0o100600 << 16) >>> 0;
/** From here on a number stands where there are eight bytes for it. */
const [MOST, MOST_ENTRIES] = [0xffff_ffff, 0xffff];

type Field = readonly [bytes: 2 | 4 | 8, value: number];

/** Records of the zip format, as PKWARE's APPNOTE 6.3.10 has them in 4.3 and 4.5.3. */
const record = (...fields: readonly Field[]): Buffer =>
  Buffer.concat(
    fields.map(([size, value]) => {
      const field = Buffer.alloc(size);
      if (size === 8) field.writeBigUInt64LE(BigInt(value));
      else field.writeUIntLE(value, 0, size);
      return field;
    }),
  );

/** Before the content. */
export function localHeader(name: string): Buffer {
  const text = Buffer.from(name);
  const unknown: Field[] = [4, 4, 4].map((size) => [size as 4, 0]);
  return Buffer.concat([
    record([4, 0x04034b50], [2, NEEDS.usual], [2, FLAGS], [2, DEFLATED], [2, TIME], [2, DATE], ...unknown, [2, text.length], [2, 0]),
    text,
  ]);
}

/** After it. */
export function dataDescriptor({crc32, bytes, packedBytes}: Omit<ZipEntry, 'name' | 'at'>): Buffer {
  const size = Math.max(bytes, packedBytes) < MOST ? 4 : 8;
  return record([4, 0x08074b50], [4, crc32], [size, packedBytes], [size, bytes]);
}

/** Everything behind the entries, which are there in this order; it begins where the last of them ended. */
export function directory(entries: readonly ZipEntry[], at: number): Buffer {
  const content = Buffer.concat(entries.map(directoryEntry));
  const isLarge = entries.length >= MOST_ENTRIES || at + content.length >= MOST;
  const count = isLarge ? MOST_ENTRIES : entries.length;
  const [size, start] = isLarge ? [MOST, MOST] : [content.length, at];
  return Buffer.concat([
    content,
    ...(isLarge ? [zip64End(entries.length, content.length, at)] : []),
    record([4, 0x06054b50], [2, 0], [2, 0], [2, count], [2, count], [4, size], [4, start], [2, 0]),
  ]);
}

function directoryEntry({name, crc32, bytes, packedBytes, at}: ZipEntry): Buffer {
  const text = Buffer.from(name);
  const isLarge = Math.max(bytes, packedBytes, at) >= MOST;
  const extra = isLarge ? record([2, 1], [2, 24], [8, bytes], [8, packedBytes], [8, at]) : Buffer.alloc(0);
  const needs = isLarge ? NEEDS.zip64 : NEEDS.usual;
  const sizes: Field[] = [packedBytes, bytes].map((size) => [4, isLarge ? MOST : size]);
  return Buffer.concat([
    record([4, 0x02014b50], [2, UNIX_63], [2, needs], [2, FLAGS], [2, DEFLATED], [2, TIME], [2, DATE], [4, crc32], ...sizes),
    record([2, text.length], [2, extra.length], [2, 0], [2, 0], [2, 0], [4, REGULAR_FILE_OF_OWNER], [4, isLarge ? MOST : at]),
    text,
    extra,
  ]);
}

function zip64End(entries: number, bytes: number, at: number): Buffer {
  const disk: Field[] = [
    [4, 0],
    [4, 0],
  ];
  return Buffer.concat([
    record([4, 0x06064b50], [8, 44], [2, UNIX_63], [2, NEEDS.zip64], ...disk, [8, entries], [8, entries], [8, bytes], [8, at]),
    record([4, 0x07064b50], [4, 0], [8, at + bytes], [4, 1]),
  ]);
}
