import {existsSync, readFileSync} from 'node:fs';

/** Text of a file in the package. @throws Error if it is missing */
export const readPackageText = (path: string): string => readFileSync(path, 'utf8');

/** JSON file in the package. @throws Error if it is missing */
export const readPackageJson = (path: string): unknown => JSON.parse(readPackageText(path));

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
