import type {Secret} from '../settings/secret.ts';

/** One call of helm or kubectl, as data: it can be printed, compared and run. */
export interface Call {
  tool: 'helm' | 'kubectl';
  args: readonly string[];
  /** Goes to standard input, never into a file or onto the command line. */
  input?: string | Secret;
}

export interface Outcome {
  exitCode: number;
  stdout: string;
  stderr: string;
}

/** A call that is under way. */
export interface Running {
  outcome: Promise<Outcome>;
  /** Asks it to end as Ctrl-C would; it is never killed behind its back. */
  interrupt(): void;
  /** This program may end although the call goes on. */
  leave(): void;
}

/** The operator's own helm and kubectl. */
export interface Processes {
  /** For calls that change nothing: they end with this program, and when nobody wants the answer any more. @throws ExpectedError when the tool is not there */
  run(call: Call, options?: {over?: AbortSignal}): Promise<Outcome>;
  /** For calls that change something. */
  start(call: Call): Running;
}

/** Where in which cluster; what is absent is the operator's own default. */
export interface Place {
  kubeconfig?: string;
  kubeContext?: string;
  namespace: string;
}

/** A Helm release, and where it is. */
export interface ReleaseName {
  release: string;
  place: Place;
}
