import {readdirSync, readFileSync} from 'node:fs';

const folder = new URL('certificates/', import.meta.url);

/** Test certificates by file name. */
export const certificates: Readonly<Record<string, Buffer>> = Object.fromEntries(
  readdirSync(folder).map((file) => [file, readFileSync(new URL(file, folder))]),
);
