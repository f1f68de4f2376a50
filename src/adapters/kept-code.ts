import {existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync} from 'node:fs';
import {dirname, resolve} from 'node:path';
import {Script} from 'node:vm';
import zlib from 'node:zlib';

/** Differs from build to build. */
declare const BUILD: string;

interface Kept {
  for: string;
  /** V8 runs what it finds, whole or not. */
  crc32: number;
  /** Path of a module and the bytes of its compiled code, in the order in which these follow. */
  modules: readonly (readonly [string, number])[];
}

type ModuleFunction = (exports: unknown, require: (id: string) => unknown, module: object, filename: string, dirname: string) => void;

/** Compiled code is of use to the same program on the same Node.js alone. */
const KEY = `${BUILD} ${process.version} ${process.arch}`;

/** Loads a module and by it what it requires. Compiled code comes from that file, and at the end goes into it where some was missing. */
export function loadKeeping(path: string, file: string): unknown {
  // Since 20.15.
  const {crc32} = zlib as {crc32?: (bytes: Buffer) => number};
  if (crc32 === undefined) return require(path);
  const kept = readKept(file, crc32);
  const scripts = new Map<string, Script>();
  const loaded = new Map<string, {exports: unknown}>();
  let isComplete = true;

  const load = (name: string): unknown => {
    const known = loaded.get(name);
    if (known !== undefined) return known.exports;
    const module = {exports: {}};
    loaded.set(name, module);
    const cachedData = kept.get(name);
    const script = new Script(wrapped(readFileSync(name, 'utf8')), {filename: name, ...(cachedData ? {cachedData} : {})});
    if (script.cachedDataRejected !== false) isComplete = false;
    scripts.set(name, script);
    const folder = dirname(name);
    const requireFrom = (id: string): unknown => (id.startsWith('.') ? load(resolve(folder, id)) : require(id));
    (script.runInThisContext() as ModuleFunction)(module.exports, requireFrom, module, name, folder);
    return module.exports;
  };

  process.once('exit', () => {
    if (!isComplete) keep(scripts, file, crc32);
  });
  return load(path);
}

const wrapped = (code: string): string => `(function (exports, require, module, __filename, __dirname) { ${code}\n})`;

function readKept(file: string, checksum: (bytes: Buffer) => number): ReadonlyMap<string, Buffer> {
  const found = new Map<string, Buffer>();
  try {
    const bytes = readFileSync(file);
    const start = bytes.indexOf('\n') + 1;
    const kept = JSON.parse(bytes.toString('utf8', 0, start)) as Kept;
    const code = bytes.subarray(start);
    if (kept.for !== KEY || checksum(code) !== kept.crc32) return found;
    let from = 0;
    for (const [name, length] of kept.modules) {
      found.set(name, code.subarray(from, from + length));
      from += length;
    }
  } catch {
    // There is none, or none that can be read: then everything is compiled.
  }
  return found;
}

/** With the functions that were called, compiled too. Where it cannot be written the next start is as slow as this one. */
function keep(scripts: ReadonlyMap<string, Script>, file: string, checksum: (bytes: Buffer) => number): void {
  const modules = [...scripts].map(([name, script]) => [name, script.createCachedData()] as const);
  const code = Buffer.concat(modules.map(([, bytes]) => bytes));
  const head: Kept = {for: KEY, crc32: checksum(code), modules: modules.map(([name, {length}]) => [name, length])};
  const unfinished = `${file}.${process.pid}`;
  try {
    const folder = dirname(file);
    // Not recursively: Node.js 20 tries for ever where the system denies that there is anything, as in /proc.
    for (const each of [dirname(folder), folder]) if (!existsSync(each)) mkdirSync(each, {mode: 0o700});
    writeFileSync(unfinished, Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), code]), {mode: 0o600});
    renameSync(unfinished, file);
  } catch {
    rmSync(unfinished, {force: true});
  }
}
