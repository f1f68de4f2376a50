import type {Values} from '../charts/tree.ts';
import {ExitCode, ExpectedError} from '../errors.ts';
import {layered} from './validate/layers.ts';
import {readSource} from './validate/source.ts';

/** The values of several files as Helm reads and merges them, the last one winning. @throws ExpectedError */
export function readLayers(files: readonly {file: string; text: string}[]): Values {
  return layered(
    files.map(({file, text}) => {
      const {source, findings} = readSource(text);
      if (source) return {file, source};
      const [{message = '', line = 1} = {}] = findings;
      throw new ExpectedError(`${file === '-' ? 'Standard input' : file}, line ${line}: ${message}`, {
        code: 'UNREADABLE_FILE',
        exit: ExitCode.usage,
        suggestions: [`See all that is wrong with it: scalr-agent validate ${file}`],
      });
    }),
  ).values;
}
