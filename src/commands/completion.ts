import {join} from 'node:path';
import * as Args from '@oclif/core/args';
import {BaseCommand} from '../cli/base-command.ts';
import {SHELLS, type Shell} from '../cli/completion/replies.ts';
import {usageError} from '../ground/errors.ts';

interface Result {
  shell: Shell;
  script: string;
  load: string;
  startup: string;
}

const NAMES = Object.keys(SHELLS) as Shell[];

export default class Completion extends BaseCommand<Result> {
  static override summary = 'Generate a shell completion script.';
  static override description =
    'Completes commands, flags and values; namespaces, contexts and releases come from kubectl and helm. Requires scalr-agent on PATH, and bash 4 or newer. Load the script in the current shell or in its startup file:';
  static override usage = '<%= command.id %> SHELL';
  static override examples = NAMES.map((name) => ({
    description: `${name}, in ${SHELLS[name].startup}`,
    command: SHELLS[name].load,
  }));
  static override args = {
    shell: Args.string({
      description: 'Shell to generate the script for.',
      options: NAMES,
      ignoreStdin: true,
    }),
  };

  override async run(): Promise<Result> {
    const {args} = await this.parse(Completion);
    const shell = args.shell as Shell | undefined;
    if (shell === undefined) {
      const names = NAMES.join(', ').replace(/, (?=[^,]*$)/, ' or ');
      const commands = NAMES.map((name) => `scalr-agent completion ${name}`);
      throw usageError(`Missing argument: choose ${names}.`, commands);
    }
    const {file, load, startup} = SHELLS[shell];
    const script = (
      await this.app.files.read(join(this.config.root, 'templates/completion', file))
    ).toString('utf8');
    if (!this.jsonEnabled()) {
      this.app.stdout(script);
      // The script is useless on a terminal.
      if (this.resultScreen.columns !== undefined)
        this.say(`\nTo load completion, run this command, or add it to ${startup}:\n  ${load}\n`);
    }
    return {shell, script, load, startup};
  }
}
