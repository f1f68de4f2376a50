import {createHash} from 'node:crypto';
import {mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {gunzipSync} from 'node:zlib';
import {parseTar} from 'nanotar';
import {parse} from 'yaml';
import type {ChartName} from '../../src/charts/releases/chart-name.ts';
import {compare} from '../../src/charts/releases/versions.ts';

/** An entry of index.yaml: Chart.yaml, and where the archive is. */
export interface IndexEntry {
  name: ChartName;
  version: string;
  digest?: string;
  urls: readonly string[];
  annotations?: Readonly<Record<string, string>>;
}

/** A chart repository: its address, or a directory with index.yaml. */
export interface Repository {
  address: string;
  entries: Readonly<Record<string, readonly IndexEntry[]>>;
}

export async function readRepository(address: string): Promise<Repository> {
  const index = parse((await read('index.yaml', address)).toString('utf8')) as {
    entries?: Repository['entries'];
  };
  return {address, entries: index.entries ?? {}};
}

/** Final releases after this version, the oldest first. */
export const releasesAfter = (
  {entries}: Repository,
  chart: ChartName,
  version: string,
): IndexEntry[] =>
  (entries[chart] ?? [])
    .filter((entry) => /^\d+\.\d+\.\d+$/.test(entry.version) && compare(entry.version, version) > 0)
    .toSorted((one, other) => compare(one.version, other.version));

/** Unpacks a release to `<directory>/<chart>/<version>` and returns that path. @throws Error if the archive has another digest */
export async function unpack(
  entry: IndexEntry,
  {address}: Repository,
  directory: string,
): Promise<string> {
  const archive = await read(entry.urls[0] as string, address);
  const digest = createHash('sha256').update(archive).digest('hex');
  if (entry.digest !== undefined && entry.digest !== digest)
    throw new Error(
      `${entry.name} ${entry.version}: the archive has the digest ${digest}, and the index says ${entry.digest}`,
    );
  const path = join(directory, entry.name, entry.version);
  for (const {name, data, type} of parseTar(gunzipSync(archive))) {
    const inside = name.split('/').slice(1);
    if (type === 'directory' || data === undefined || inside.length === 0 || inside.includes('..'))
      continue;
    mkdirSync(dirname(join(path, ...inside)), {recursive: true});
    writeFileSync(join(path, ...inside), data);
  }
  return path;
}

async function read(place: string, address: string): Promise<Buffer> {
  if (!/^https?:/.test(address))
    return readFileSync(join(address, place.split('/').at(-1) as string));
  const response = await fetch(new URL(place, address.replace(/\/?$/, '/')));
  if (!response.ok)
    throw new Error(`Cannot read ${response.url}: ${response.status} ${response.statusText}`);
  return Buffer.from(await response.arrayBuffer());
}
