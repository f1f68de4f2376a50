import type {Interfaces} from '@oclif/core';
import * as Flags from '@oclif/core/flags';

export const generalFlags = {
  json: Flags.boolean({
    summary: 'Print one JSON document on standard output.',
    helpGroup: 'GLOBAL',
  }),
  'no-input': Flags.boolean({
    summary: 'Disable prompts; implied without a terminal, and when CI is set and not false.',
    helpGroup: 'GLOBAL',
  }),
  quiet: Flags.boolean({
    char: 'q',
    summary: 'Print only results, warnings and errors.',
    helpGroup: 'GLOBAL',
  }),
  verbose: Flags.boolean({summary: 'Print more details.', helpGroup: 'GLOBAL'}),
  accessible: Flags.boolean({
    summary:
      'For screen readers: one question per line, states as words, nothing repainted; the same as ACCESSIBLE=1.',
    helpGroup: 'GLOBAL',
  }),
  'no-color': Flags.boolean({
    summary: 'Disable colors; the same as NO_COLOR.',
    helpGroup: 'GLOBAL',
  }),
};

/** For commands that resolve settings. */
export const answersFlag = {
  answers: Flags.string({
    summary: 'Answers file: YAML with flag names as keys.',
    helpValue: '<FILE>',
  }),
};

/** For commands that handle several clusters. */
export const overlayFlag = {
  overlay: Flags.string({
    summary: 'Directory with one answers file per cluster, merged over --answers, and rings.yaml.',
    helpValue: '<DIRECTORY>',
  }),
};

/** For commands that change something. */
export const confirmFlags = {
  yes: Flags.boolean({char: 'y', summary: 'Confirm without a prompt.'}),
  'dry-run': Flags.boolean({summary: 'Show what would change; change nothing.'}),
};

/** For commands whose result is a file. */
export const outFlag = {
  out: Flags.string({
    char: 'o',
    summary: 'Output file. Default: standard output.',
    helpValue: '<FILE>',
  }),
};

/** For commands with more output formats than --json; `more` is about one of them. */
export const formatFlag = (options: readonly string[], more = '') => ({
  format: Flags.string({
    summary: `Output format; json is the same as --json.${more}`,
    helpValue: `<${options.join('|')}>`,
    options,
  }),
});

/** For commands that install a chart, or list what it contains. */
export const verifyFlag = {
  verify: Flags.string({
    summary:
      'Verify the signature of the chart with the public keys in this keyring, and stop if it is invalid.',
    helpValue: '<KEYRING>',
  }),
};

/** A flag that can be repeated, each time with one value. */
export const repeated = {multiple: true, multipleNonGreedy: true} as const;

/** What `this.parse` returns for these flags. */
export type Parsed<Flags extends Interfaces.FlagInput> = Interfaces.InferredFlags<Flags>;
export type SharedFlags = Partial<
  Parsed<typeof answersFlag & Pick<typeof generalFlags, 'no-input' | 'quiet'>>
>;
export type ConfirmFlags = Partial<Parsed<typeof confirmFlags>> & {confirm?: string | undefined};
