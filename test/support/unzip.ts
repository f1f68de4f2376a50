import {open} from 'node:fs/promises';
import {inflateRawSync} from 'node:zlib';

const END_OF_DIRECTORY = 0x06054b50;
const DEFLATED = 8;
/** The end record is 22 bytes and may be followed by a comment of at most 64 KiB. */
const LONGEST_END = 22 + 0xffff;

/** Reads one file of a zip archive without an unzip command or library. */
export async function readZipEntry(archive: string, name: string): Promise<Buffer> {
  const [content] = (await readZip(archive, (each) => each === name)).values();
  if (content === undefined) throw new Error(`${archive} holds no ${name}`);
  return content;
}

/** Files of a zip archive with matching names. */
export async function readZip(
  archive: string,
  isDesired = (_: string): boolean => true,
): Promise<Map<string, Buffer>> {
  const file = await open(archive);
  const read = async (position: number, length: number): Promise<Buffer> => {
    const {buffer, bytesRead} = await file.read(Buffer.alloc(length), 0, length, position);
    return buffer.subarray(0, bytesRead);
  };
  try {
    const {size} = await file.stat();
    const tail = await read(Math.max(0, size - LONGEST_END), Math.min(size, LONGEST_END));
    const end = tail.lastIndexOf(signature(END_OF_DIRECTORY));
    if (end < 0) throw new Error(`${archive} is no zip archive`);
    const directory = await read(tail.readUInt32LE(end + 16), tail.readUInt32LE(end + 12));
    const found = new Map<string, Buffer>();
    for (const {name, method, packed, offset} of entries(directory).filter((each) =>
      isDesired(each.name),
    )) {
      const header = await read(offset, 30);
      const content = await read(
        offset + 30 + header.readUInt16LE(26) + header.readUInt16LE(28),
        packed,
      );
      found.set(name, method === DEFLATED ? inflateRawSync(content) : content);
    }
    return found;
  } finally {
    await file.close();
  }
}

interface Entry {
  name: string;
  method: number;
  packed: number;
  offset: number;
}

function entries(directory: Buffer): Entry[] {
  const found: Entry[] = [];
  for (let at = 0; at < directory.length; ) {
    const name = directory.readUInt16LE(at + 28);
    const extra = directory.readUInt16LE(at + 30);
    const comment = directory.readUInt16LE(at + 32);
    found.push({
      name: directory.toString('utf8', at + 46, at + 46 + name),
      method: directory.readUInt16LE(at + 10),
      packed: directory.readUInt32LE(at + 20),
      offset: directory.readUInt32LE(at + 42),
    });
    at += 46 + name + extra + comment;
  }
  return found;
}

function signature(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}
