import {BaseCommand} from '../../../src/cli/base-command.ts';
import type {ErrorCode} from '../../../src/ground/errors.ts';
import {runCommand} from '../../support/run-command.ts';

type Deps = Parameters<typeof runCommand>[2];

export interface Said {
  stderr: string;
  exit: string | number;
}

/** One failure as an operator meets it: what was typed, and what the program said. */
export interface Example {
  code: ErrorCode;
  typed: string;
  say(): Promise<Said>;
}

/** As wide as a page shows without scrolling. */
const SCREEN = {hasColor: false, columns: 78};

/** What the command says to these words. */
export const saidBy = (
  Class: Parameters<typeof runCommand>[0],
  typed: string,
  deps: Deps = {},
): (() => Promise<Said>) => {
  const argv = typed.split(' ').map((word) => word.replace(/^'(.*)'$/, '$1'));
  return () => runCommand(Class, argv, {...deps, screen: SCREEN});
};

/** What the typed command says when this part of the program fails, where all before it would need a cluster. */
export const saidOf =
  (typed: string, part: () => unknown): (() => Promise<Said>) =>
  () => {
    const [id = '', ...argv] = typed.split(' ');
    class Part extends BaseCommand<object> {
      static override id = id;
      static override strict = false;

      override async run(): Promise<object> {
        await this.parse(Part, []);
        this.argv = argv;
        await part();
        throw new Error('it should have failed');
      }
    }
    return runCommand(Part, argv, {screen: SCREEN});
  };
