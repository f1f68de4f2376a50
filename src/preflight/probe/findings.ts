/** What came of one request of the script, in its own words. */
export interface Answer {
  state:
    | 'ok'
    | 'proxy'
    | 'proxy-dns'
    | 'dns'
    | 'refused'
    | 'timeout'
    | 'tls'
    | 'untrusted'
    | 'no-ca'
    | 'no-tool'
    /** Anything else. */
    | 'failed';
  /** A status of HTTP, its words where the tool says no more, or what the tool ended with. */
  detail: string;
}

export interface Volume {
  state: 'ok' | 'noexec' | 'read-only' | 'full' | 'denied';
  directory: string;
}

export interface Findings {
  scalr?: Answer;
  metadata?: Answer;
  volumes: readonly Volume[];
}

const ANSWERS: readonly string[] = [
  ...([
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
  ] satisfies Answer['state'][]),
];
const VOLUMES: readonly string[] = ['ok', 'noexec', 'read-only', 'full', 'denied'] satisfies Volume['state'][];

/** What the script says, one finding a line; other lines are those of whatever else speaks in the image. Pure. */
export function findingsIn(log: string): Findings {
  const found = log.split('\n').flatMap((line) => {
    const [, about, state = '', rest = ''] = /^probe (\S+) (\S+)(?: (.*))?$/.exec(line.trim()) ?? [];
    return about === undefined ? [] : [{about, state, rest}];
  });
  const answer = (about: string): Answer | undefined => {
    const last = found.findLast((each) => each.about === about && ANSWERS.includes(each.state));
    return last && {state: last.state as Answer['state'], detail: last.rest.replaceAll(/[^\w .-]/g, '')};
  };
  const [scalr, metadata] = [answer('scalr-url'), answer('metadata')];
  return {
    ...(scalr ? {scalr} : {}),
    ...(metadata ? {metadata} : {}),
    volumes: found
      .filter(({about, state, rest}) => about === 'volume' && VOLUMES.includes(state) && rest !== '')
      .map(({state, rest}) => ({state: state as Volume['state'], directory: rest})),
  };
}
