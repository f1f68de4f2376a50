import {type KubernetesObject, ownLabels} from '../../kubernetes/objects.ts';

const PROBE = 'scalr.io/probe';

/** Resource names for kubectl, in the order in which probes are deleted. */
export const PROBE_KINDS = ['pods', 'configmaps', 'networkpolicies.networking.k8s.io'] as const;

export const PROBE_CONTAINER = 'probe';

/** The init container with the runner image. */
export const RUNNER_CONTAINER = 'runner';

/** The last line of a completed probe. */
export const PROBE_DONE = 'probe done';

/**
 * No label of the chart is among them: a DaemonSet would take the pod for its own, a Service would send it requests, and it would
 * count as a run.
 */
export const probeLabels = (release: string): Readonly<Record<string, string>> => ({...ownLabels(release), [PROBE]: release});

export const probeSelector = (release: string): string => `${PROBE}=${release}`;

export interface ProbeObjects {
  /** Of the pod. */
  pod: string;
  /** In the order of their creation, the pod last. */
  objects: readonly KubernetesObject[];
}

/** What was seen of a probe. */
export interface Probed {
  node?: string | undefined;
  /** Its log; undefined if it did not complete. */
  log?: string | undefined;
  /** Why it did not complete. */
  causes: readonly {reason: string; remedy: string; isPermanent: boolean}[];
  /** Command that deletes the remaining objects. */
  leftover?: string | undefined;
}

const ANSWERS = ['ok', 'proxy', 'proxy-dns', 'dns', 'refused', 'timeout', 'tls', 'untrusted', 'no-ca', 'no-tool', 'failed'] as const;
const VOLUMES = ['ok', 'noexec', 'read-only', 'full', 'denied'] as const;

/** The outcome of one request of the script. */
export interface ProbeAnswer {
  /** `failed` is any other failure. */
  state: (typeof ANSWERS)[number];
  /** HTTP status, otherwise the error text of the tool, otherwise its exit code. */
  detail: string;
}

export interface Volume {
  state: (typeof VOLUMES)[number];
  directory: string;
}

export interface Findings {
  scalr: ProbeAnswer | undefined;
  metadata: ProbeAnswer | undefined;
  volumes: readonly Volume[];
  registries: readonly (ProbeAnswer & {url: string})[];
  /** Of OpenTelemetry collectors, by host:port. */
  telemetry: readonly (ProbeAnswer & {url: string})[];
  /** Of the images in --image-registry. */
  manifests: readonly (ProbeAnswer & {url: string})[];
  /** Of --probe-url. */
  urls: readonly (ProbeAnswer & {url: string})[];
  /** What is missing in the runner image; undefined if the pods of runs do not use one. */
  runner: {missesUser: boolean; missesCurl: boolean} | undefined;
}

/** Parses the output of the script, one finding per line. Other lines come from other programs of the image. Pure. */
export function probeFindings(log: string): Findings {
  const lines = log.split('\n').flatMap((line) => {
    const [, about, state = '', rest = ''] = /^probe (\S+) (\S+)(?: (.*))?$/.exec(line.trim()) ?? [];
    return about === undefined ? [] : [{about, state, rest}];
  });
  const answer = (name: string): ProbeAnswer | undefined =>
    lines
      .filter(({about}) => about === name)
      .flatMap(({state: found, rest}) => {
        const state = ANSWERS.find((each) => each === found);
        return state === undefined ? [] : [{state, detail: rest.replaceAll(/[^\w .-]/g, '')}];
      })
      .at(-1);
  const requests = (name: string): (ProbeAnswer & {url: string})[] =>
    lines.flatMap(({about, state: url, rest}) => {
      const [found, ...detail] = rest.split(' ');
      const state = ANSWERS.find((each) => each === found);
      return about === name && state !== undefined ? [{url, state, detail: detail.join(' ')}] : [];
    });
  return {
    scalr: answer('scalr-url'),
    metadata: answer('metadata'),
    registries: requests('registry'),
    telemetry: requests('telemetry'),
    manifests: requests('manifest'),
    urls: requests('url'),
    runner: lines.some(({about}) => about === 'runner-user')
      ? {
          missesUser: lines.some(({about, state}) => about === 'runner-user' && state === 'missing'),
          missesCurl: lines.some(({about, state}) => about === 'runner-curl' && state === 'missing'),
        }
      : undefined,
    volumes: lines.flatMap(({about, state: found, rest: directory}) => {
      const state = VOLUMES.find((each) => each === found);
      return about === 'volume' && state !== undefined && directory !== '' ? [{state, directory}] : [];
    }),
  };
}
