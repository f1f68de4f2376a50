import type {Situation} from './situation.ts';

export type Status = 'pass' | 'warn' | 'fail' | 'skip';

/** What a check comes to. `fail`: the install or its runs would fail, or a setting would silently do nothing; `skip`: it could not be looked at. */
export interface Outcome {
  status: Status;
  /** What is the case, with names and numbers; of a skipped check, why it could not be looked at. */
  message: string;
  /** What to do about it, as a command or a flag where there is one. */
  remedy?: string;
}

/** One thing that an install needs. */
export interface Check {
  /** Stable and unique, such as node-versions. */
  id: string;
  /** The heading it stands under. */
  group: 'Tools' | 'Cluster' | 'Permissions' | 'Namespace' | 'Release' | 'Secrets' | 'Storage' | 'Network' | 'Nodes' | 'Probe';
  /** What is true when it passes: nodes are new enough for the chart */
  title: string;
  /** Where to read more: an address, or the chart, version and file a fact comes from. */
  ref: string;
  /** Pure. Undefined where these settings have no need of it. */
  test(situation: Situation): Outcome | undefined;
}

/** A check that was made, as `preflight --json` prints it. */
export interface Checked extends Outcome {
  id: string;
  group: Check['group'];
  title: string;
  ref: string;
}

export const pass = (message: string): Outcome => ({status: 'pass', message});
export const warn = (message: string, remedy: string): Outcome => ({status: 'warn', message, remedy});
export const fail = (message: string, remedy: string): Outcome => ({status: 'fail', message, remedy});
export const skip = (message: string, remedy?: string): Outcome => ({status: 'skip', message, ...(remedy === undefined ? {} : {remedy})});
