import {commandLine} from '../ground/command-line.ts';
import {DECISIONS, type DecisionOption, type ExpectedError, maskSecrets} from '../ground/errors.ts';
import type {Program} from '../ground/program.ts';
import {extraEnv, set} from '../settings/chart-values.ts';

/** The command line that needs a decision. */
export interface DecidedLine {
  /** Without the program: "pool create" */
  command: string;
  argv: readonly string[];
  program: Program;
}

interface ActionRequired {
  status: 'action_required';
  /** What has to be decided. */
  reason: string;
  /** The command line again, with each possible decision. */
  next: {command: string; when: string}[];
}

/** What a calling program has to decide; undefined if the error asks for nothing. */
export function actionRequired(
  {code, options}: Pick<ExpectedError, 'code' | 'options'>,
  line: DecidedLine,
): ActionRequired | undefined {
  if (options.length === 0) return undefined;
  return {
    status: 'action_required',
    reason: (DECISIONS as Partial<Record<typeof code, string>>)[code] ?? 'terminal_required',
    next: options.map((option) => ({command: decidedCommand(option, line), when: option.when})),
  };
}

/** Next steps with the commands of a decision instead of the flags that they contain. A person gets only commands that run as printed. */
export function decisionSteps(
  {code, options, suggestions}: ExpectedError,
  line: DecidedLine,
): string[] {
  const complete = options.filter(
    (each) => !INCOMPLETE.test(each.add) && !/…|\*\*\*/.test(decidedCommand(each, line)),
  );
  const {next = []} = actionRequired({code, options: complete}, line) ?? {};
  const replaced = complete.map(({replaces}) => replaces);
  return [
    ...next.map(({when, command}) => `${when}: ${command}`),
    ...suggestions.filter((each) => !replaced.includes(each)),
  ];
}

/** A word in capitals has to be replaced. */
const INCOMPLETE = /(?<![\w-])[A-Z]{2,}(?![\w-])/;

function decidedCommand(
  {add, remove = []}: DecisionOption,
  {command, argv, program}: DecidedLine,
): string {
  const [flag = '', value] = add.split(' ');
  const words = withoutFlag(hideSecrets(argv), flag, value !== undefined).filter(
    (word) => !remove.includes(word),
  );
  const line = commandLine({tool: 'scalr-agent', args: [...command.split(' '), ...words]});
  const own = line.replace(/^scalr-agent( install\b)?/, (_, install) =>
    install ? program.install : program.other,
  );
  return /^[A-Z_]+=/.test(add) ? `${add} ${own}` : `${own} ${add}`.trim();
}

/** The words without a flag that gets another value. */
const withoutFlag = (words: readonly string[], flag: string, hasValue: boolean): string[] =>
  words.filter(
    (word, index) =>
      word !== flag && !word.startsWith(`${flag}=`) && !(hasValue && words[index - 1] === flag),
  );

const FREE_TEXT = [set, extraEnv].map(({id}) => `--${id}`);

/** The words of a command line; free text, which can be a secret, is left out. */
const hideSecrets = (argv: readonly string[]): string[] =>
  argv.map((word, index) => {
    if (FREE_TEXT.includes(argv[index - 1] ?? '')) return '…';
    const [flag = ''] = word.split('=');
    return FREE_TEXT.includes(flag) && word !== flag ? `${flag}=…` : maskSecrets(word);
  });
