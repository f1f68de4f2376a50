import {statSync} from 'node:fs';
import {homedir} from 'node:os';
import {isAbsolute, join} from 'node:path';
import {loadKeeping} from './kept-code.ts';

/**
 * Loads a module of the program. What it compiles to is kept for the next start of the same command. Node.js 22 has such a cache of its
 * own, which saves a quarter of that: it lacks the functions that are compiled when they are called.
 */
export function loadCompiled(path: string, command: string): unknown {
  const place = placeToKeep();
  return place === undefined ? require(path) : loadKeeping(path, join(place, `${command}.compiled`));
}

/** Undefined where nothing shall be kept. What is found there is run, so nobody else may be able to write it. */
function placeToKeep(): string | undefined {
  const {NODE_DISABLE_COMPILE_CACHE, NODE_V8_COVERAGE, XDG_CACHE_HOME, LOCALAPPDATA} = process.env;
  if (NODE_DISABLE_COMPILE_CACHE || NODE_V8_COVERAGE) return undefined;
  try {
    const place = join(XDG_CACHE_HOME || LOCALAPPDATA || join(homedir(), '.cache'), 'scalr-agent');
    return isAbsolute(place) && isOursAlone(place) ? place : undefined;
  } catch {
    return undefined;
  }
}

function isOursAlone(place: string): boolean {
  const found = statSync(place, {throwIfNoEntry: false});
  if (found === undefined || process.geteuid === undefined) return true;
  return found.uid === process.geteuid() && (found.mode & 0o022) === 0;
}
