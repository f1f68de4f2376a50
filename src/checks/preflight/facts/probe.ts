import type {KubernetesObject} from '../../../cluster/kubernetes/objects.ts';

export interface ProbeObjects {
  /** Of the pod. */
  pod: string;
  /** In the order of their creation, the pod last. */
  objects: readonly KubernetesObject[];
}

/** What was seen of a probe. */
export interface ProbeOutcome {
  node?: string | undefined;
  /** Its log; undefined if it did not complete. */
  log?: string | undefined;
  causes: readonly {reason: string; remedy: string; isPermanent: boolean}[];
  /** Command that deletes the remaining objects. */
  leftover?: string | undefined;
}

/** A planned probe, with the expectations for its findings. */
export interface ProbePlan extends ProbeObjects {
  image: string;
  url: string | undefined;
  /** Without user and password. */
  proxy: string | undefined;
  /** The same for each URL of --probe-url. */
  urlProxies: ReadonlyMap<string, string | undefined>;
  hasCertificates: boolean;
  /** What replaces objects that do not exist yet. */
  notes: readonly string[];
}

/** Why no probe was created. */
export interface SkippedProbe {
  because: string;
  remedy?: string;
  /** Only its manifests were requested. */
  isDry?: boolean;
}
