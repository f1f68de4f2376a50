import {join} from 'node:path';
import {brotliDecompressSync} from 'node:zlib';
import type {Files} from '../ports/files.ts';

/** The page that a bundle is shown with, which the build compresses into dist. */
export const pageTemplate = async (files: Pick<Files, 'read'>, root: string): Promise<string> =>
  brotliDecompressSync(await files.read(join(root, 'dist/report.html.br'))).toString('utf8');
