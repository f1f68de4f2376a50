import {hideCredentials} from './credentials.ts';
import {
  type Finding,
  type Remedy,
  remediesOf,
  type SettingFinding,
  type SettingSubject,
} from './finding.ts';

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

/** Every error code with its exit code; templates/findings/errors.yaml describes cause and remedy. */
const EXIT_OF = {
  USAGE: ExitCode.usage,
  UNKNOWN_COMMAND: ExitCode.usage,
  UNKNOWN_FLAG: ExitCode.usage,
  MISSING_SETTING: ExitCode.usage,
  INVALID_SETTING: ExitCode.usage,
  INVALID_ANSWERS_FILE: ExitCode.usage,
  UNSUPPORTED_SETTING: ExitCode.usage,
  CONFLICTING_SETTINGS: ExitCode.usage,
  RESERVED_VARIABLE: ExitCode.usage,
  NO_CHART_FITS: ExitCode.usage,
  INVALID_CHART_SOURCE: ExitCode.usage,
  TOOL_NOT_FOUND: ExitCode.usage,
  TOOL_FAILED: ExitCode.failed,
  CLUSTER_UNREACHABLE: ExitCode.failed,
  TARGET_CHANGED: ExitCode.failed,
  NOT_LOGGED_IN: ExitCode.failed,
  FORBIDDEN: ExitCode.failed,
  RELEASE_NOT_FOUND: ExitCode.usage,
  AGENT_NOT_FOUND: ExitCode.usage,
  RELEASE_BUSY: ExitCode.failed,
  NAMESPACE_TERMINATING: ExitCode.failed,
  IMMUTABLE_FIELD: ExitCode.failed,
  CHART_NOT_FOUND: ExitCode.failed,
  OBJECT_NOT_OWNED: ExitCode.usage,
  PREFLIGHT_FAILED: ExitCode.findings,
  UPGRADE_BLOCKED: ExitCode.findings,
  CHART_NOT_VERIFIED: ExitCode.failed,
  RENDER_MISMATCH: ExitCode.failed,
  NOT_CONFIRMED: ExitCode.usage,
  NOT_READY: ExitCode.failed,
  TIMED_OUT: ExitCode.timedOut,
  INTERRUPTED: ExitCode.interrupted,
  TERMINATED: ExitCode.terminated,
  VERSION_TOO_OLD: ExitCode.usage,
  VERSION_NOT_RELEASED: ExitCode.usage,
  PLAN_CHANGED: ExitCode.failed,
  INVALID_VALUES: ExitCode.findings,
  BUNDLE_DAMAGED: ExitCode.findings,
  AMBIGUOUS_YAML: ExitCode.usage,
  CLEAR_TEXT_CREDENTIAL: ExitCode.usage,
  ENCRYPTED_FILE: ExitCode.usage,
  UNREADABLE_FILE: ExitCode.usage,
  UNWRITABLE_FILE: ExitCode.failed,
  FILE_EXISTS: ExitCode.usage,
  SECRET_IN_BUNDLE: ExitCode.secretFound,
  NO_CREDENTIAL: ExitCode.usage,
  SCALR_UNREACHABLE: ExitCode.failed,
  SCALR_DENIED: ExitCode.failed,
  SCALR_NOT_FOUND: ExitCode.usage,
  SCALR_REJECTED: ExitCode.failed,
  CANCELED: ExitCode.interrupted,
  DECLINED: ExitCode.failed,
  BUG: ExitCode.failed,
} as const satisfies Readonly<Record<string, ExitCode>>;
export type ErrorCode = keyof typeof EXIT_OF;
export const ERROR_CODES = Object.keys(EXIT_OF) as readonly ErrorCode[];

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
  /** The next step that says the same, and is left out where the whole command is printed. */
  replaces?: string;
}

interface BaseDetails {
  /** The parts of the message, if they are known. */
  problems?: readonly SettingFinding[];
  suggestions?: readonly (string | Remedy)[];
  /** Why, as far as it was found out. */
  causes?: readonly Finding[];
  cause?: unknown;
}

/** An error that asks for a decision must list the options. */
type FailureDetails = BaseDetails &
  (
    | {code: FailureCode; options?: readonly DecisionOption[]}
    | {code: ErrorCode; options: readonly DecisionOption[]}
  );

/** The finding that Scalr does not accept the token of an agent. */
export const TOKEN_REJECTED = 'TOKEN_REJECTED';

/** A finding that ends the command, with an exit code and next steps. All other errors are bugs. */
export class ExpectedError extends Error implements Finding<SettingSubject> {
  override readonly name = 'ExpectedError';
  readonly code: ErrorCode;
  readonly verdict = 'error';
  readonly subject: SettingSubject = {};
  readonly remedies: readonly Remedy[];
  readonly exit: ExitCode;
  readonly problems: readonly SettingFinding[];
  readonly causes: readonly Finding[];
  /** Empty if there is nothing to decide. */
  readonly options: readonly DecisionOption[];

  constructor(
    message: string,
    {code, suggestions = [], problems = [], options = [], causes = [], cause}: FailureDetails,
  ) {
    super(maskSecrets(message), cause === undefined ? undefined : {cause});
    this.code = code;
    this.exit = EXIT_OF[code];
    this.remedies = remediesOf(...suggestions).map(maskRemedy);
    this.problems = problems.map((each) => ({...each, message: maskSecrets(each.message)}));
    this.options = options;
    this.causes = causes;
  }

  /** The texts of the remedies. */
  get suggestions(): readonly string[] {
    return this.remedies.map(({text}) => text);
  }

  /** The same failure with another message and other next steps. */
  with(message: string, steps: readonly string[]): ExpectedError {
    // Its own steps keep what they are made of.
    const suggestions = steps.map((step) => this.remedies.find(({text}) => text === step) ?? step);
    return new ExpectedError(message, {...this, suggestions, cause: this.cause});
  }
}

/** A failure with next steps. */
export const failed = (
  code: FailureCode,
  message: string,
  suggestions: readonly (string | Remedy)[] = [],
  more: Omit<BaseDetails, 'suggestions'> = {},
): ExpectedError => new ExpectedError(message, {code, suggestions, ...more});

/** A command line that cannot be run as it was typed. */
export const usageError = (
  message: string,
  suggestions: readonly string[],
  cause?: Error,
): ExpectedError => failed('USAGE', message, suggestions, cause ? {cause} : {});

/** Distributions have kubectl under other names; k3s is kubectl when it is called so. */
export const INSTALL_KUBECTL =
  'Install kubectl, or set its path with --kubectl, for example oc, microk8s.kubectl, or a link named kubectl to k3s';

/** After a kubeconfig without a context. */
export const ANOTHER_FILE = 'Select another file with --kubeconfig or KUBECONFIG';

/** How an install, an upgrade and the others continue after a failure. */
export const RUN_AGAIN = 'Run the same command again to continue';

/** After a failure that no rule knows. */
export const RUN_VERBOSE = 'Run the command again with --verbose';

/** The code of a command that a signal stopped. */
export const signalCode = ({reason}: AbortSignal): 'INTERRUPTED' | 'TERMINATED' =>
  reason === 'SIGTERM' ? 'TERMINATED' : 'INTERRUPTED';

/** The command was stopped by a signal; `reason` is the name of the signal. */
export const interrupted = (what: string, signal: AbortSignal): ExpectedError =>
  new ExpectedError(`Interrupted. ${what}`.trim(), {
    code: signalCode(signal),
    suggestions: [RUN_AGAIN],
  });

/** The command was stopped by Ctrl-C or a signal. */
export const isInterrupt = ({code}: ExpectedError): boolean =>
  code === 'INTERRUPTED' || code === 'TERMINATED';

/** What an operation has done so far, as a sentence before another one. */
export const completedText = (steps: readonly {title: string}[]): string =>
  steps.length === 0 ? '' : `Completed: ${steps.map(({title}) => title).join('; ')}. `;

/** For the `catch` of a promise: handles an expected failure. All other errors are bugs and are thrown again. */
export const onFailure =
  <T>(handle: (failure: ExpectedError) => T) =>
  (error: unknown): T => {
    if (error instanceof ExpectedError) return handle(error);
    throw error;
  };

/** Masks passwords and tokens in a text: user info of URLs, tokens with a known format and private keys. */
export const maskSecrets = (text: string): string =>
  hideCredentials(
    text
      .replace(/(?<=\/\/)[^"'\n]*@/g, '***@')
      .replace(/(?<![\w./-])[\w.%+\\-]+:(?!\/\/)[^\s"'@]*@(?!sha256:)/g, '***@')
      .replace(/\beyJ[\w-]{4,}(\.[\w-]*){0,2}/g, '[hidden]')
      .replace(
        /\b(authorization: ?(?:(?:basic|bearer|digest|negotiate|token) |(?=\S*\d))|bearer (?=\S*\d))[^\s"',)]{6,}/gi,
        '$1[hidden]',
      ),
  );

const maskRemedy = ({text, parts, ...rest}: Remedy): Remedy => ({
  ...rest,
  text: maskSecrets(text),
  ...(parts && {parts: parts.map((part) => (typeof part === 'string' ? maskSecrets(part) : part))}),
});

/** The prompt was canceled: Ctrl-C, Ctrl-D, end of input or an aborted signal. */
export class PromptCanceled extends Error {
  override readonly name = 'PromptCanceled';
}

/** Esc at a prompt with `canGoBack`. */
export class GoBack extends Error {
  override readonly name = 'GoBack';
}

/** Resolves to the answer, or to `back` after Esc. */
export async function unlessBack<T, B>(answer: Promise<T>, back: B): Promise<T | B> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof GoBack) return back;
    throw error;
  }
}
