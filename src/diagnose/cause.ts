import type {KubernetesObject, Snapshot} from '../cluster/objects.ts';
import {kubectlCommand} from '../command-line.ts';

/** Why something is not ready. */
export interface Cause {
  /** `pod/name`, `deployment/name`, `claim/name`. */
  object: string;
  code: string;
  /** One line, with the message of the cluster or of the agent. */
  reason: string;
  /** The operator's next step. */
  remedy: string;
  /** Waiting longer will not help. */
  isHopeless: boolean;
}

/** Something that is wrong with an object, before it has a name. */
export interface Symptom {
  object: KubernetesObject;
  /** The one of a pod that it is about. */
  container?: string | undefined;
  /** What the patterns of rows are matched against. */
  text?: string;
  reason: string;
  /** When the state began; without it the object's whole life counts. */
  since?: string | undefined;
  /** Overrides the time: it was tried often enough, or help is on its way. */
  isHopeless?: boolean | undefined;
  /** Overrides the remedy of the row. */
  remedy?: string | undefined;
}

/** One kind of cause: what is seen, what it is called, and what to do. */
export interface CauseRow {
  code: string;
  /** Matches the text of a symptom. A row without it matches every symptom. */
  pattern?: RegExp;
  /** Seconds after which waiting longer will not help. Without them time proves nothing. */
  hopelessAfter?: number | undefined;
  /** Seconds for which the state is not reported, because everything passes through it. */
  normalFor?: number;
  /** Only time decides, because another moment or another node may succeed where several tries failed. */
  ignoresTries?: boolean;
  /** Says that something below is wrong, not what: gives way to causes of the pods of a workload, of the claims of a pod. */
  isVague?: boolean;
  remedy: string;
  /** A kubectl command that shows more; printed behind the remedy. */
  look?: Look;
}

/** Arguments of kubectl, for what a symptom is about. */
type Look = (symptom: Pick<Symptom, 'object' | 'container'>, namespace: string) => readonly string[];

export const describe =
  (kind: string): Look =>
  ({object}, namespace) => ['describe', kind, object.metadata.name, '--namespace', namespace];

export const readLog =
  (...flags: readonly string[]): Look =>
  ({object, container = ''}, namespace) => ['logs', object.metadata.name, '--container', container, ...flags, '--namespace', namespace];

export const remedyOf = (
  {remedy, look}: Pick<CauseRow, 'remedy' | 'look'>,
  symptom: Pick<Symptom, 'object' | 'container'>,
  place: Snapshot['place'],
): string => (look ? `${remedy}: ${kubectlCommand(place, ...look(symptom, place.namespace))}` : remedy);

/** Rows for the same symptoms. The first row that matches a symptom wins. */
export interface CauseTable {
  symptoms(snapshot: Snapshot, now: Date): readonly Symptom[];
  rows: readonly CauseRow[];
}

/** A row with symptoms of its own. */
export const singleCause = ({symptoms, ...row}: CauseRow & Pick<CauseTable, 'symptoms'>): CauseTable => ({symptoms, rows: [row]});
