const ANSWERS = [
  'ok',
  'proxy',
  'proxy-dns',
  'dns',
  'refused',
  'timeout',
  'tls',
  'untrusted',
  'no-ca',
  'no-tool',
  'failed',
] as const;
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

type UrlAnswer = ProbeAnswer & {url: string};

export interface Findings {
  scalr: ProbeAnswer | undefined;
  metadata: ProbeAnswer | undefined;
  volumes: readonly Volume[];
  registries: readonly UrlAnswer[];
  /** Of OpenTelemetry collectors, by host:port. */
  telemetry: readonly UrlAnswer[];
  /** Of the images in --image-registry. */
  manifests: readonly UrlAnswer[];
  /** Of --probe-url. */
  urls: readonly UrlAnswer[];
  /** What is missing in the runner image; undefined if run pods do not use one. */
  runner: {missesUser: boolean; missesCurl: boolean} | undefined;
}

/** Parses the output of the script, one finding per line. Other lines come from other programs of the image. Pure. */
export function probeFindings(log: string): Findings {
  const lines = log.split('\n').flatMap((line) => {
    const [, about, state = '', rest = ''] =
      /^probe (\S+) (\S+)(?: (.*))?$/.exec(line.trim()) ?? [];
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
  const requests = (name: string): UrlAnswer[] =>
    lines.flatMap(({about, state: url, rest}) => {
      const [found, ...detail] = rest.split(' ');
      const state = ANSWERS.find((each) => each === found);
      return about === name && state !== undefined ? [{url, state, detail: detail.join(' ')}] : [];
    });
  const stateOf = (name: string): string | undefined =>
    lines.find(({about}) => about === name)?.state;
  const runnerUser = stateOf('runner-user');
  return {
    scalr: answer('scalr-url'),
    metadata: answer('metadata'),
    registries: requests('registry'),
    telemetry: requests('telemetry'),
    manifests: requests('manifest'),
    urls: requests('url'),
    runner:
      runnerUser === undefined
        ? undefined
        : {missesUser: runnerUser === 'missing', missesCurl: stateOf('runner-curl') === 'missing'},
    volumes: lines.flatMap(({about, state: found, rest: directory}) => {
      const state = VOLUMES.find((each) => each === found);
      return about === 'volume' && state !== undefined && directory !== ''
        ? [{state, directory}]
        : [];
    }),
  };
}
