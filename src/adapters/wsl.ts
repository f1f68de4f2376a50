import {existsSync, readFileSync} from 'node:fs';

/** Linux on Windows, or something similar. */
export function isPerhapsWsl(): boolean {
  if (process.platform !== 'linux') return false;
  if (existsSync('/proc/sys/fs/binfmt_misc/WSLInterop') || existsSync('/run/WSL')) return true;
  try {
    return /microsoft/i.test(readFileSync('/proc/version', 'utf8'));
  } catch {
    return true;
  }
}
