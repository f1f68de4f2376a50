import type {KubernetesObject} from '../../cluster/kubernetes/objects.ts';
import type {Snapshot} from '../../cluster/kubernetes/snapshot.ts';
import {kubectlCommand} from '../../ground/command-line.ts';

export interface Symptom {
  object: KubernetesObject;
  container?: string | undefined;
  /** Text that the patterns of rows are matched against. */
  text?: string;
  reason: string;
  /** Start of the state; without it, the creation of the object is used. */
  since?: string | undefined;
  /** Overrides the time, for example after enough attempts. */
  isPermanent?: boolean | undefined;
  /** Instead of the remedy of the row. */
  remedies?: readonly string[] | undefined;
}

export interface CauseRow {
  code: string;
  /** Matches the text of a symptom. A row without it matches every symptom. */
  pattern?: RegExp;
  /** Seconds after which waiting longer does not help. If absent, the cause is never permanent. */
  permanentAfter?: number | undefined;
  /** Seconds in which the state is normal and not reported. */
  normalFor?: number;
  /** Only time counts, because a later attempt or another node can succeed. */
  ignoresTries?: boolean;
  /** Only indicates a problem of a dependent object, so causes of pods of the workload or of PVCs of the pod take precedence. */
  isVague?: boolean;
  remedy: string;
  /** A kubectl command for details; printed after the remedy. */
  kubectlArgs?: KubectlArgs;
}

/** Arguments of kubectl for a symptom. */
type KubectlArgs = (
  symptom: Pick<Symptom, 'object' | 'container'>,
  namespace: string,
) => readonly string[];

export const describe =
  (kind: string): KubectlArgs =>
  ({object}, namespace) => ['describe', kind, object.metadata.name, '--namespace', namespace];

export const readLog =
  (...flags: readonly string[]): KubectlArgs =>
  ({object, container = ''}, namespace) => [
    'logs',
    object.metadata.name,
    '--container',
    container,
    ...flags,
    '--namespace',
    namespace,
  ];

export const remedyOf = (
  {remedy, kubectlArgs}: Pick<CauseRow, 'remedy' | 'kubectlArgs'>,
  symptom: Pick<Symptom, 'object' | 'container'>,
  kubeTarget: Snapshot['kubeTarget'],
): string =>
  kubectlArgs
    ? `${remedy}: ${kubectlCommand(kubeTarget, ...kubectlArgs(symptom, kubeTarget.namespace))}`
    : remedy;

/** Rows for the same symptoms. The first matching row wins. */
export interface CauseTable {
  symptoms(snapshot: Snapshot, now: Date): readonly Symptom[];
  rows: readonly CauseRow[];
  /** The text of a symptom in a line of kubectl or of a log; undefined if the line is about something else. */
  textIn?: ((line: string) => string | undefined) | undefined;
}

/** A row with its own symptoms. */
export const singleCause = ({
  symptoms,
  textIn,
  ...row
}: CauseRow & Omit<CauseTable, 'rows'>): CauseTable => ({symptoms, textIn, rows: [row]});

/** Prefixes that runtimes and kubelets add to a message. */
const WRAPPINGS: readonly RegExp[] = [
  /^Back-off pulling image "[^"]*":? ?/,
  /^ErrImagePull: /,
  /^Failed to pull image "[^"]*": /,
  /^rpc error: code = \w+ desc = /,
  /^failed to pull and unpack image "[^"]*": /,
  /^failed to resolve (reference|image) "[^"]*": /,
  /^failed to copy: /,
  /^Error response from daemon: /,
  /^\(combined from similar events\): /,
  /^Error creating: /,
  // The name differs in every attempt.
  /^pods "[^"]*" is forbidden: /,
  /^Error: /,
];

/** The message without prefixes, so that it stays the same in every attempt. */
export function unwrap(text: string): string {
  const next = WRAPPINGS.reduce((rest, wrapping) => rest.replace(wrapping, ''), text.trim());
  return next === text ? next : unwrap(next);
}
