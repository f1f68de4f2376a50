import type {KubernetesObject, Snapshot} from '../cluster/objects.ts';

/** Why something is not ready. */
export interface Cause {
  /** `pod/name`, `deployment/name`, `claim/name`. */
  object: string;
  code: string;
  /** One line, in the words of the cluster. */
  reason: string;
  /** The operator's next step. */
  remedy: string;
  /** Waiting longer will not help. */
  isHopeless: boolean;
}

export interface Finding {
  object: KubernetesObject;
  reason: string;
  /** When the state began; without it the object's whole life counts. */
  since?: string | undefined;
  /** Overrules the time: it was tried often enough, or help is on its way. */
  isHopeless?: boolean | undefined;
  /** Where it depends on the words. */
  remedy?: string | undefined;
}

/** One kind of cause. */
export interface CauseRecord {
  code: string;
  /** Seconds after which waiting longer will not help, with the reason for that time. Without them time proves nothing. */
  hopelessAfter?: number;
  /** Seconds for which the state is no news, because everything passes through it. */
  normalFor?: number;
  /** Says that something below is wrong, not what: gives way to causes of the pods of a workload, of the claims of a pod. */
  isVague?: boolean;
  test(snapshot: Snapshot, now: Date): readonly Finding[];
  remedy: string;
}
