import {mkdirSync, writeFileSync} from 'node:fs';
import {dirname} from 'node:path';
import {transform} from 'esbuild';

/** Writes ES modules as CommonJS. esbuild splits only the former; the latter start faster, and what they compile to can be kept. */
export const writeAsCommonJs = (outputFiles) =>
  Promise.all(
    outputFiles.map(async ({path, text}) => {
      const {code} = await transform(text, {
        format: 'cjs',
        platform: 'node',
        target: 'node20.12',
        minifyWhitespace: true,
        minifySyntax: true,
        // Functions keep their names, for whoever reads a stack.
        minifyIdentifiers: true,
        keepNames: true,
        supported: {'dynamic-import': false},
      });
      mkdirSync(dirname(path), {recursive: true});
      writeFileSync(path, code);
    }),
  );
