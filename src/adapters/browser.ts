import {spawn} from 'node:child_process';
import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {brotliDecompressSync} from 'node:zlib';

/** What opens a file on this platform. */
const OPENERS: Readonly<Partial<Record<NodeJS.Platform, readonly string[]>>> = {
  darwin: ['open'],
  win32: ['cmd', '/c', 'start', '""'],
};

/** Opens a file in the browser of the user; false if nothing on this machine can. */
export const openInBrowser = (path: string): Promise<boolean> =>
  new Promise((resolve) => {
    const [command, ...args] = OPENERS[process.platform] ?? ['xdg-open'];
    const child = spawn(command as string, [...args, path], {detached: true, stdio: 'ignore'});
    child.on('error', () => resolve(false));
    child.on('spawn', () => {
      child.unref();
      resolve(true);
    });
  });

/** The empty page of the package in this directory. @throws Error if it is missing */
export const readPageTemplate = (root: string): string =>
  brotliDecompressSync(readFileSync(join(root, 'dist/report.html.br'))).toString('utf8');
