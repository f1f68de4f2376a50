/** Part of a file, compressed until somebody looks at it; `packed` is absent if only the zip has it. */
export interface Block {
  lines: number;
  packed?: Uint8Array<ArrayBuffer> | (() => Uint8Array<ArrayBuffer>);
}

export interface BundleFile {
  name: string;
  bytes: number;
  blocks: readonly Block[];
  /** Sum over the blocks. */
  lines: number;
}

/** Decoded blocks that stay in memory. */
const MAX_DECODED = 160;

/** Files of a bundle, decoded when they are looked at. */
export class BundleData {
  readonly files: ReadonlyMap<string, BundleFile>;
  readonly #decoded = new Map<Block, readonly string[]>();
  readonly #decoding = new Map<Block, Promise<readonly string[]>>();

  constructor(files: readonly Omit<BundleFile, 'lines'>[]) {
    const counted = files.map((file): [string, BundleFile] => [
      file.name,
      {...file, lines: file.blocks.reduce((sum, {lines}) => sum + lines, 0)},
    ]);
    this.files = new Map(counted.toSorted(([one], [other]) => one.localeCompare(other)));
  }

  /** Lines of a block if it is decoded. */
  decoded(block: Block): readonly string[] | undefined {
    return this.#decoded.get(block);
  }

  /** Decodes a block and keeps it for a while. */
  async lines(block: Block): Promise<readonly string[]> {
    const known = this.#decoded.get(block);
    const lines = known ?? (await this.#decode(block));
    // The newest stand at the end.
    this.#decoded.delete(block);
    this.#decoded.set(block, lines);
    for (const oldest of this.#decoded.keys()) {
      if (this.#decoded.size <= MAX_DECODED) break;
      this.#decoded.delete(oldest);
    }
    return lines;
  }

  /** Lines for a pass over all blocks, which would push out what is on the screen. */
  async linesOnce(block: Block): Promise<readonly string[]> {
    return this.#decoded.get(block) ?? this.#decode(block);
  }

  /** Lines of a block, decoded once at a time; empty if only the zip has it. */
  #decode(block: Block): Promise<readonly string[]> {
    const running =
      this.#decoding.get(block) ?? decode(block).finally(() => this.#decoding.delete(block));
    this.#decoding.set(block, running);
    return running;
  }

  /** Whole text of a small file; empty if there is none. */
  async text(name: string): Promise<string> {
    const all: string[] = [];
    for (const block of this.files.get(name)?.blocks ?? []) all.push(...(await this.lines(block)));
    return all.join('\n');
  }

  /** Content of a JSON file; undefined if there is none. */
  async json(name: string): Promise<unknown> {
    try {
      return JSON.parse(await this.text(name));
    } catch {
      return undefined;
    }
  }
}

async function decode(block: Block): Promise<readonly string[]> {
  if (block.packed === undefined) return [];
  const bytes = bytesOf(block);
  const source = new ReadableStream<Uint8Array<ArrayBuffer>>({
    start(controller) {
      controller.enqueue(bytes);
      controller.close();
    },
  });
  // As a stream of text, because the browser frees buffers late.
  const texts = source
    .pipeThrough(new DecompressionStream('deflate-raw'))
    .pipeThrough(new TextDecoderStream('utf-8', {ignoreBOM: true}));
  const lines: string[] = [];
  let rest = '';
  for (const reader = texts.getReader(); ; ) {
    const {done, value} = await reader.read();
    if (done) break;
    const parts = (rest + value).split('\n');
    rest = parts.pop() as string;
    for (const part of parts) lines.push(part);
  }
  if (rest !== '') lines.push(rest);
  return lines;
}

function bytesOf(block: Block): Uint8Array<ArrayBuffer> {
  if (typeof block.packed === 'function') block.packed = block.packed();
  return block.packed as Uint8Array<ArrayBuffer>;
}

export const inflated = (bytes: Uint8Array<ArrayBuffer> | Blob): Promise<ArrayBuffer> =>
  new Response(
    new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw')),
  ).arrayBuffer();

const deflated = async (bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> =>
  new Uint8Array(
    await new Response(
      new Blob([bytes]).stream().pipeThrough(new CompressionStream('deflate-raw')),
    ).arrayBuffer(),
  );

function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const {fromBase64: native} = Uint8Array as {
    fromBase64?: (text: string) => Uint8Array<ArrayBuffer>;
  };
  return native
    ? native.call(Uint8Array, text)
    : Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}

/** Index of the page: name, size, and for each block its id (-1: not embedded) and number of lines. */
type PageIndex = readonly (readonly [
  name: string,
  bytes: number,
  blocks: readonly (readonly [id: number, lines: number])[],
])[];

/** Files that the page embeds. */
export async function dataOfPage(page: Document): Promise<BundleData> {
  const read = (id: string): Uint8Array<ArrayBuffer> => {
    const node = page.getElementById(id);
    const bytes = fromBase64(node?.textContent ?? '');
    node?.remove();
    return bytes;
  };
  const index = JSON.parse(new TextDecoder().decode(await inflated(read('index')))) as PageIndex;
  return new BundleData(
    index.map(([name, bytes, blocks]) => ({
      name,
      bytes,
      blocks: blocks.map(([id, lines]) =>
        id < 0 ? {lines} : {lines, packed: () => read(`b${id}`)},
      ),
    })),
  );
}

/** Size of a block before compression. */
const BLOCK = 128 * 1024;
const NEWLINE = 10;

/** Files of a zip file, as the page would embed them. @throws Error if it cannot be read */
export async function dataOfZip(
  zip: Blob,
  onProgress: (done: number, all: number) => void,
): Promise<BundleData> {
  const entries = (await entriesOf(zip)).filter(
    ({name}) => !name.endsWith('/') && name !== 'report.html',
  );
  const files: Omit<BundleFile, 'lines'>[] = [];
  for (const [done, {name, bytes, isDeflated, start, size}] of entries.entries()) {
    onProgress(done, entries.length);
    const head = new DataView(await zip.slice(start, start + 30).arrayBuffer());
    const from = start + 30 + head.getUint16(26, true) + head.getUint16(28, true);
    const packed = zip.slice(from, from + size);
    const content = new Uint8Array(await (isDeflated ? inflated(packed) : packed.arrayBuffer()));
    const blocks: Block[] = [];
    for (let at = 0; at < content.length; ) {
      const newline = at + BLOCK >= content.length ? -1 : content.indexOf(NEWLINE, at + BLOCK);
      const part = content.subarray(at, newline === -1 ? content.length : newline + 1);
      blocks.push({lines: linesIn(part), packed: await deflated(part)});
      at += part.length;
    }
    files.push({name, bytes, blocks});
  }
  return new BundleData(files);
}

function linesIn(bytes: Uint8Array): number {
  let lines = bytes.at(-1) === NEWLINE ? 0 : 1;
  for (let at = bytes.indexOf(NEWLINE); at !== -1; at = bytes.indexOf(NEWLINE, at + 1)) lines += 1;
  return lines;
}

interface ZipEntry {
  name: string;
  bytes: number;
  isDeflated: boolean;
  /** Offset of the local header. */
  start: number;
  /** Compressed. */
  size: number;
}

/** The central directory, without support for files of 4 GiB. */
async function entriesOf(zip: Blob): Promise<ZipEntry[]> {
  const tail = new DataView(await zip.slice(-65_557).arrayBuffer());
  let end = tail.byteLength - 22;
  while (end >= 0 && tail.getUint32(end, true) !== 0x06054b50) end -= 1;
  if (end < 0) throw new Error('This is not a zip file.');
  const start = tail.getUint32(end + 16, true);
  const directory = new DataView(
    await zip.slice(start, start + tail.getUint32(end + 12, true)).arrayBuffer(),
  );
  const entries: ZipEntry[] = [];
  for (
    let at = 0;
    at + 46 <= directory.byteLength && directory.getUint32(at, true) === 0x02014b50;
  ) {
    const nameLength = directory.getUint16(at + 28, true);
    entries.push({
      name: new TextDecoder().decode(new Uint8Array(directory.buffer, at + 46, nameLength)),
      bytes: directory.getUint32(at + 24, true),
      isDeflated: directory.getUint16(at + 10, true) === 8,
      start: directory.getUint32(at + 42, true),
      size: directory.getUint32(at + 20, true),
    });
    at += 46 + nameLength + directory.getUint16(at + 30, true) + directory.getUint16(at + 32, true);
  }
  return entries;
}
