import {existsSync, readFileSync} from 'node:fs';

/** Linux under Windows, or something that looks like it; what exactly is for others to say. */
export function isPerhapsWsl(): boolean {
  if (process.platform !== 'linux') return false;
  if (existsSync('/proc/sys/fs/binfmt_misc/WSLInterop') || existsSync('/run/WSL')) return true;
  try {
    return /microsoft/i.test(readFileSync('/proc/version', 'utf8'));
  } catch {
    return true;
  }
}
