import Export from '../../src/commands/export.ts';
import Images from '../../src/commands/images.ts';
import Migrate from '../../src/commands/migrate.ts';
import Recommend from '../../src/commands/recommend.ts';
import Schema from '../../src/commands/schema.ts';
import Validate from '../../src/commands/validate.ts';
import Values from '../../src/commands/values.ts';
import {NodeFiles} from '../../src/ground/system/node-files.ts';
import {runCommand} from './run-command.ts';

const COMMANDS = {
  export: Export,
  images: Images,
  migrate: Migrate,
  recommend: Recommend,
  schema: Schema,
  validate: Validate,
  values: Values,
};

/** Runs a command in this process, with the files of a directory. */
export async function runIn(
  cwd: string,
  [name, ...argv]: readonly string[],
  env: Readonly<Record<string, string>> = {},
) {
  const before = process.cwd();
  process.chdir(cwd);
  try {
    return await runCommand<object>(COMMANDS[name as keyof typeof COMMANDS], argv, {
      files: new NodeFiles(),
      env,
    });
  } finally {
    process.chdir(before);
  }
}
