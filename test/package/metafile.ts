import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {ROOT} from './built.ts';

export interface Metafile {
  outputs: Readonly<Record<string, {inputs: Readonly<Record<string, {bytesInOutput: number}>>}>>;
}

/** What esbuild wrote down of the last build. */
export const readMetafile = (): Metafile => JSON.parse(readFileSync(join(ROOT, 'dist/meta.json'), 'utf8')) as Metafile;

/** Files of which something is in those outputs, or in any. */
export const bundledInputs = ({outputs} = readMetafile(), names = Object.keys(outputs)): string[] =>
  names.flatMap((name) =>
    Object.entries(outputs[name]?.inputs ?? {}).flatMap(([path, {bytesInOutput}]) => (bytesInOutput > 0 ? [path] : [])),
  );
