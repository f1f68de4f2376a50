import {mkdirSync, statSync} from 'node:fs';
import nodeModule from 'node:module';
import {homedir} from 'node:os';
import {isAbsolute, join} from 'node:path';
import {loadKeeping} from './kept-code.ts';

/** Since 22.1. */
const {enableCompileCache} = nodeModule as {enableCompileCache?: (directory: string) => unknown};

/** Loads a module of the program. What it compiles to is kept for the next start: by Node.js itself where it can, else for every command here. */
export function loadCompiled(path: string, command: string): unknown {
  const place = cachePlace();
  if (place === undefined) return require(path);
  if (enableCompileCache === undefined) return loadKeeping(path, join(place, `${command}.compiled`));
  enableCompileCache(place);
  return require(path);
}

/** Undefined where nothing shall be kept. What is found there is run, so nobody else may have written it. */
function cachePlace(): string | undefined {
  const {NODE_DISABLE_COMPILE_CACHE, NODE_V8_COVERAGE, XDG_CACHE_HOME, LOCALAPPDATA} = process.env;
  if (NODE_DISABLE_COMPILE_CACHE || NODE_V8_COVERAGE) return undefined;
  try {
    const place = join(XDG_CACHE_HOME || LOCALAPPDATA || join(homedir(), '.cache'), 'scalr-agent');
    if (!isAbsolute(place)) return undefined;
    mkdirSync(place, {recursive: true, mode: 0o700});
    return isOursAlone(place) ? place : undefined;
  } catch {
    return undefined;
  }
}

function isOursAlone(place: string): boolean {
  if (process.geteuid === undefined) return true;
  const {uid, mode} = statSync(place);
  return uid === process.geteuid() && (mode & 0o022) === 0;
}
