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
const VOLUME_STATES = ['ok', 'noexec', 'read-only', 'full', 'denied'] as const;

/** The outcome of one request of the script. */
export interface ProbeAnswer {
  /** `failed` is any other failure. */
  state: (typeof ANSWERS)[number];
  /** HTTP status, otherwise the error text of the tool, otherwise its exit code. */
  detail: string;
}

export interface ProbedVolume {
  state: (typeof VOLUME_STATES)[number];
  directory: string;
}

type UrlAnswer = ProbeAnswer & {url: string};

export interface ProbeFindings {
  scalr: ProbeAnswer | undefined;
  metadata: ProbeAnswer | undefined;
  volumes: readonly ProbedVolume[];
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

/** `probe SUBJECT WORD REST` */
interface ProbeLine {
  subject: string;
  word: string;
  rest: string;
}

/** Parses the output of the script, one finding per line. Other lines come from other programs of the image. Pure. */
export function probeFindings(log: string): ProbeFindings {
  const lines = log.split('\n').flatMap(lineOf);
  const about = (subject: string): ProbeLine[] => lines.filter((each) => each.subject === subject);
  const [user] = about('runner-user');
  const [curl] = about('runner-curl');
  return {
    scalr: about('scalr-url').flatMap(answerOf).at(-1),
    metadata: about('metadata').flatMap(answerOf).at(-1),
    registries: about('registry').flatMap(urlAnswerOf),
    telemetry: about('telemetry').flatMap(urlAnswerOf),
    manifests: about('manifest').flatMap(urlAnswerOf),
    urls: about('url').flatMap(urlAnswerOf),
    runner: user && {
      missesUser: user.word === 'missing',
      missesCurl: curl?.word === 'missing',
    },
    volumes: about('volume').flatMap(volumeOf),
  };
}

function lineOf(line: string): ProbeLine[] {
  const [, subject, word = '', rest = ''] = /^probe (\S+) (\S+)(?: (.*))?$/.exec(line.trim()) ?? [];
  return subject === undefined ? [] : [{subject, word, rest}];
}

function answerOf({word, rest}: ProbeLine): ProbeAnswer[] {
  const state = ANSWERS.find((each) => each === word);
  return state === undefined ? [] : [{state, detail: rest.replaceAll(/[^\w .-]/g, '')}];
}

function urlAnswerOf({word: url, rest}: ProbeLine): UrlAnswer[] {
  const [found, ...detail] = rest.split(' ');
  const state = ANSWERS.find((each) => each === found);
  return state === undefined ? [] : [{url, state, detail: detail.join(' ')}];
}

function volumeOf({word, rest: directory}: ProbeLine): ProbedVolume[] {
  const state = VOLUME_STATES.find((each) => each === word);
  return state === undefined || directory === '' ? [] : [{state, directory}];
}
