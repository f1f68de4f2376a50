import type {Secret} from '../settings/secret.ts';

/** One call of a tool, as data: it can be printed, compared and run. */
export interface Call {
  /** helm and kubectl for agents in Kubernetes, the others for agents on this machine. */
  tool: 'helm' | 'kubectl' | 'docker' | 'systemctl' | 'install' | 'rm';
  args: readonly string[];
  /** Sent to standard input, never to a file or the command line. */
  input?: string | Secret;
}

export interface ProcessResult {
  exitCode: number;
  stdout: string;
  stderr: string;
}

/** A running call. */
export interface Running {
  outcome: Promise<ProcessResult>;
  /** Sends SIGINT. The process is never killed. */
  interrupt(): void;
  /** This program can exit while the call continues. */
  leave(): void;
}

/** The tools of the user. */
export interface Processes {
  /** For read-only calls: they end with this program and with the signal. @throws ExpectedError if the tool is not found */
  run(call: Call, options?: {signal?: AbortSignal}): Promise<ProcessResult>;
  /** For calls with changes. */
  start(call: Call): Running;
}

/** Cluster and namespace; absent values are the defaults of the user. */
export interface ClusterTarget {
  kubeconfig?: string;
  kubeContext?: string;
  namespace: string;
}

/** A Helm release and its location. */
export interface ReleaseName {
  release: string;
  place: ClusterTarget;
}
