import {deflateRawSync, inflateRawSync} from 'node:zlib';
import {type ElementMaker, type FirstScreen, firstScreen} from '../../../report/first-screen.ts';
import {SIGNIFICANT_LINE} from '../../checks/diagnose/agent-log.ts';
import {NEWLINE} from '../../ground/line-streams.ts';

import type {
  Archive,
  ArchiveEntry,
  ClosedArchive,
  CloseOptions,
  OpenArchive,
} from '../../ground/system/system.ts';
import type {Inspection} from './inspect.ts';

/** The page of a bundle, which a browser opens without a server. */
export const REPORT = 'report.html';

/** Bytes of a block before compression, at least; a block ends with its line. */
const BLOCK = 128 * 1024;
/** A longer line is split. */
const LONGEST_LINE = 8 * 1024 * 1024;
/** Compressed bytes that are embedded: in base64, 20 MB. */
const MOST = 15_000_000;
/** Open and close of the places where the template is filled. */
const FIRST = '<!--first-->';
const FIRST_END = '<!--/first-->';
const DATA = '<!--data-->';
const blockOf = (id: string, packed: Buffer): string =>
  `<script type="application/octet-stream;base64" id="${id}">${packed.toString('base64')}</script>\n`;
const BLOCKS = /<script type="application\/octet-stream;base64" id="(\w+)">([^<]*)<\/script>/g;

interface Block {
  lines: number;
  /** Lines that findings are made of. */
  isTelling: boolean;
  /** Undefined if the page is full. */
  packed: Buffer | undefined;
}

interface PageFile {
  name: string;
  bytes: number;
  blocks: Block[];
}

/** Collects the files of a bundle for its page while they are written. */
export class ReportPage {
  readonly #template: string;
  readonly #files: PageFile[] = [];
  #kept = 0;

  constructor(template: string) {
    this.#template = template;
  }

  /** Passes a file on, and keeps it compressed. */
  async *recording(
    name: string,
    source: AsyncIterable<Buffer> | Iterable<Buffer>,
  ): AsyncGenerator<Buffer> {
    const file: PageFile = {name, bytes: 0, blocks: []};
    this.#files.push(file);
    let parts: Buffer[] = [];
    let size = 0;
    for await (const chunk of source) {
      yield chunk;
      file.bytes += chunk.length;
      parts.push(chunk);
      size += chunk.length;
      if (size < BLOCK) continue;
      let held = Buffer.concat(parts);
      while (held.length >= BLOCK) {
        const newline = held.indexOf(NEWLINE, BLOCK - 1);
        if (newline === -1 && held.length < LONGEST_LINE) break;
        const end = newline === -1 ? held.length : newline + 1;
        this.#keep(file, held.subarray(0, end));
        held = held.subarray(end);
      }
      parts = held.length > 0 ? [Buffer.from(held)] : [];
      size = held.length;
    }
    if (size > 0) this.#keep(file, Buffer.concat(parts));
  }

  #keep(file: PageFile, content: Buffer): void {
    const packed = Buffer.from(deflateRawSync(content, {level: 6}));
    file.blocks.push({
      lines: linesIn(content),
      packed,
      isTelling: SIGNIFICANT_LINE.test(content.toString('latin1')),
    });
    this.#kept += packed.length;
    while (this.#kept > MOST) this.#drop(file);
  }

  /**
   * Beginning and end of a file say most, and lines of findings. The first other block of the longest file goes, and its second one if all
   * have such lines.
   */
  #drop(newest: PageFile): void {
    const keptOf = ({blocks}: PageFile): Block[] =>
      blocks.filter(({packed}) => packed !== undefined);
    const longest = this.#files.reduce(
      (one, other) => (keptOf(other).length > keptOf(one).length ? other : one),
      newest,
    );
    const kept = keptOf(longest);
    const middle = kept.slice(1, -1);
    const dropped = (middle.find(({isTelling}) => !isTelling) ??
      middle[0] ??
      keptOf(newest).at(-1)) as Block;
    this.#kept -= (dropped.packed as Buffer).length;
    dropped.packed = undefined;
  }

  /** The page as HTML; `first` is its first screen. */
  async *html(first: Buffer): AsyncGenerator<Buffer> {
    const [head, , rest = ''] = this.#template.split(/<!--(first)-->/) as [string, string, string];
    const [middle, tail] = rest.split(DATA) as [string, string];
    yield Buffer.from(`${head}${FIRST}`);
    yield first;
    yield Buffer.from(`${FIRST_END}${middle}`);
    let count = 0;
    // Files arrive in any order.
    const files = this.#files.toSorted((one, other) => (one.name < other.name ? -1 : 1));
    const index = files.map(({name, bytes, blocks}) => [
      name,
      bytes,
      blocks.map(({lines, packed}) => [packed === undefined ? -1 : count++, lines]),
    ]);
    yield Buffer.from(blockOf('index', deflateRawSync(JSON.stringify(index))));
    let id = 0;
    for (const {packed} of files.flatMap(({blocks}) => blocks)) {
      if (packed !== undefined) yield Buffer.from(blockOf(`b${id++}`, packed));
    }
    yield Buffer.from(tail);
  }
}

function linesIn(content: Buffer): number {
  let lines = content.at(-1) === NEWLINE ? 0 : 1;
  for (let at = content.indexOf(NEWLINE); at !== -1; at = content.indexOf(NEWLINE, at + 1))
    lines += 1;
  return lines;
}

/** Text of a page: its first screen and every decoded block. The program of the page and the names in `own` are the same in every bundle. */
export async function* contentOfPage(
  chunks: AsyncIterable<Buffer>,
  own: ReadonlySet<string> = new Set(),
): AsyncGenerator<Buffer> {
  let held = '';
  let isFirst = true;
  for await (const chunk of chunks) {
    held += chunk.toString('latin1');
    const end = held.indexOf(FIRST_END);
    if (isFirst && end === -1) continue;
    if (isFirst) {
      yield Buffer.from(held.slice(held.indexOf(FIRST) + FIRST.length, end), 'latin1');
      [held, isFirst] = [held.slice(end), false];
    }
    // Every block ends with its line.
    const newline = held.lastIndexOf('\n') + 1;
    for (const [, id, block = ''] of held.slice(0, newline).matchAll(BLOCKS)) {
      const content = inflateRawSync(Buffer.from(block, 'base64'));
      if (id !== 'index') yield content;
      else
        yield Buffer.from(
          JSON.stringify(
            (JSON.parse(content.toString()) as [name: string][]).filter(([name]) => !own.has(name)),
          ),
        );
    }
    held = held.slice(newline);
  }
}

/** An archive that collects its files for the page. */
export class PagedArchive implements Archive {
  readonly #archive: Archive;
  readonly #page: ReportPage;

  constructor(archive: Archive, template: string) {
    this.#archive = archive;
    this.#page = new ReportPage(template);
  }

  add(name: string, source: AsyncIterable<Buffer> | Buffer): Promise<ArchiveEntry> {
    return this.#archive.add(
      name,
      this.#page.recording(name, Buffer.isBuffer(source) ? [source] : source),
    );
  }

  async addPage(first: Buffer): Promise<void> {
    await this.#archive.add(REPORT, this.#page.html(first));
  }

  close(options: CloseOptions): Promise<ClosedArchive> {
    return this.#archive.close(options);
  }

  abort(): Promise<void> {
    return this.#archive.abort();
  }
}

class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

const MARKUP: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
const escaped = (text: string): string => text.replace(/[&<>"']/g, (one) => MARKUP[one] as string);
const html: ElementMaker<Html> = (tag, attributes, ...children) => {
  const named = Object.entries(attributes).map(([name, value]) => ` ${name}="${escaped(value)}"`);
  return new Html(
    `<${tag}${named.join('')}>${children.map((child) => (child instanceof Html ? child.text : escaped(child))).join('')}</${tag}>`,
  );
};

/** Verdict and findings as HTML. Pure. */
export const firstScreenHtml = (content: FirstScreen): string => firstScreen(html, content).text;

/** The page of a finished bundle, without files that cannot be read. */
export async function reportHtml(
  archive: OpenArchive,
  {summary = '', findings, damage}: Inspection,
  template: string,
): Promise<string> {
  const page = new ReportPage(template);
  const hidden = new Set([
    REPORT,
    'manifest.json',
    ...damage.flatMap(({entry, problem}) => (problem === 'unreadable' ? [entry] : [])),
  ]);
  for (const {name} of archive.entries.filter((entry) => !hidden.has(entry.name))) {
    for await (const _ of page.recording(name, archive.read(name)));
  }
  const parts: Buffer[] = [];
  for await (const part of page.html(Buffer.from(firstScreenHtml({summary, findings}))))
    parts.push(part);
  return Buffer.concat(parts).toString('utf8');
}
