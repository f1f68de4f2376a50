/** Exit codes; scripts depend on them. */
export const ExitCode = {
  ok: 0,
  failed: 1,
  usage: 2,
  findings: 3,
  onlyWarnings: 4,
  differences: 5,
  timedOut: 6,
  incomplete: 7,
  secretFound: 8,
  interrupted: 130,
  terminated: 143,
} as const;
export type ExitCode = (typeof ExitCode)[keyof typeof ExitCode];

/** Every error code; templates/errors.yaml describes cause and remedy. */
export const ERROR_CODES = [
  'USAGE',
  'UNKNOWN_COMMAND',
  'UNKNOWN_FLAG',
  'MISSING_SETTING',
  'INVALID_SETTING',
  'INVALID_ANSWERS_FILE',
  'UNSUPPORTED_SETTING',
  'CONFLICTING_SETTINGS',
  'RESERVED_VARIABLE',
  'NO_CHART_FITS',
  'NO_CHART',
  'TOOL_NOT_FOUND',
  'TOOL_FAILED',
  'CLUSTER_UNREACHABLE',
  'NOT_LOGGED_IN',
  'FORBIDDEN',
  'RELEASE_NOT_FOUND',
  'AGENT_NOT_FOUND',
  'RELEASE_BUSY',
  'CHART_NOT_FOUND',
  'OBJECT_OF_ANOTHER',
  'PREFLIGHT_FAILED',
  'UPGRADE_BLOCKED',
  'BROKEN_PROMISE',
  'NOT_CONFIRMED',
  'NOT_READY',
  'TIMED_OUT',
  'INTERRUPTED',
  'VERSION_TOO_OLD',
  'VERSION_NOT_RELEASED',
  'AMBIGUOUS_YAML',
  'UNREADABLE_FILE',
  'UNWRITABLE_FILE',
  'FILE_EXISTS',
  'SECRET_IN_BUNDLE',
  'NO_CREDENTIAL',
  'SCALR_UNREACHABLE',
  'SCALR_DENIED',
  'SCALR_NOT_FOUND',
  'SCALR_REJECTED',
  'CANCELLED',
  'BUG',
] as const;
export type ErrorCode = (typeof ERROR_CODES)[number];

/** What a program that calls this one has to decide, by error code. */
export const DECISIONS = {
  MISSING_SETTING: 'setting_required',
  NOT_CONFIRMED: 'confirmation_required',
  FILE_EXISTS: 'file_exists',
} as const;
type DecisionCode = keyof typeof DECISIONS;

/** Codes of errors that ask for no decision. */
export type FailureCode = Exclude<ErrorCode, DecisionCode>;

/** One way to decide: what to add to the command line, as words of a shell, and when. A variable (NAME=value) is put before it. */
export interface DecisionOption {
  add: string;
  /** Flags that cannot be combined with it. */
  remove?: readonly string[];
  when: string;
}

interface AnyAdvice {
  exit: ExitCode;
  suggestions?: readonly string[];
  cause?: unknown;
}

/** An error that asks for a decision must list the options. */
type Advice = AnyAdvice &
  ({code: FailureCode; options?: readonly DecisionOption[]} | {code: ErrorCode; options: readonly DecisionOption[]});

/** An expected error with a code, an exit code and a next step. All other errors are bugs. */
export class ExpectedError extends Error {
  override readonly name = 'ExpectedError';
  readonly code: ErrorCode;
  readonly exit: ExitCode;
  readonly suggestions: readonly string[];
  /** Empty if there is nothing to decide. */
  readonly options: readonly DecisionOption[];

  constructor(message: string, {code, exit, suggestions = [], options = [], cause}: Advice) {
    super(maskSecrets(message), cause === undefined ? undefined : {cause});
    this.code = code;
    this.exit = exit;
    this.suggestions = suggestions.map(maskSecrets);
    this.options = options;
  }

  /** The same failure with another message and other next steps. */
  with(message: string, suggestions: readonly string[]): ExpectedError {
    return new ExpectedError(message, {...this, suggestions, cause: this.cause});
  }
}

/** How an install, an upgrade and the others continue after a failure. */
export const RUN_AGAIN = 'Run the same command again to continue';

/** The command was stopped by a signal; `reason` is the name of the signal. */
export const interrupted = (what: string, {reason}: AbortSignal): ExpectedError =>
  new ExpectedError(`Interrupted. ${what}`.trim(), {
    code: 'INTERRUPTED',
    exit: reason === 'SIGTERM' ? ExitCode.terminated : ExitCode.interrupted,
    suggestions: [RUN_AGAIN],
  });

/** A problem that does not stop the command. `setting` is the ID of the affected setting. */
export interface Warning {
  code: string;
  message: string;
  setting?: string;
}

/** Masks passwords and tokens in a text: user info of URLs and JSON Web Tokens. */
export const maskSecrets = (text: string): string =>
  text
    .replace(/(?<=\/\/)[^"'\n]*@/g, '***@')
    .replace(/(?<![\w./-])[\w.%+\\-]+:[^\s"'@]*@(?!sha256:)/g, '***@')
    .replace(/\beyJ[\w-]{4,}(\.[\w-]*){0,2}/g, '[hidden]');

/** The prompt was cancelled: Ctrl-C, Ctrl-D, end of input or an aborted signal. */
export class PromptCancelled extends Error {
  override readonly name = 'PromptCancelled';
}

/** Esc at a prompt with `canGoBack`. */
export class GoBack extends Error {
  override readonly name = 'GoBack';
}
