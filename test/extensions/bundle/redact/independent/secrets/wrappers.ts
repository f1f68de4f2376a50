import type {Random} from './random.ts';

export interface Wrapper {
  name: string;
  /** Wraps all lines of a log. */
  wrap: (text: string, random: Random) => string;
  /** What becomes of a secret of one line in it. */
  inside: (secret: string) => string;
}

const json = (text: string): string => JSON.stringify(text).slice(1, -1);
/** As Go writes JSON, and with it Docker. */
const goJson = (text: string): string =>
  json(text).replace(/[<>&]/g, (sign) => `\\u00${sign.charCodeAt(0).toString(16)}`);
const same = (text: string): string => text;
const eachLine = (text: string, change: (line: string) => string): string =>
  text.split('\n').map(change).join('\n');
const time = (random: Random, digits: number): string =>
  `2026-11-24T${random.between(10, 23)}:${random.between(10, 59)}:${random.between(10, 59)}.${random.signs('digits', digits)}Z`;

const GREEN = '\u001b[32m';
const RESET = '\u001b[0m';

/** As Terraform colors a plan, and other tools the word before a colon; in another line as in the others of its log. */
function colored(line: string, other: (line: string) => string): string {
  const [, indent, sign, rest] = /^(\s*)([+~-])( .*)$/.exec(line) ?? [];
  if (rest !== undefined) return `${indent}${GREEN}${sign}${RESET}${RESET}${rest}`;
  const [, key, after] = /^([\w ./-]{2,40}(?:: |=))(.*)$/.exec(line) ?? [];
  return key === undefined ? other(line) : `\u001b[1;36m${key}${RESET}${after}`;
}

function colors(text: string, random: Random): string {
  const color = random.pick([31, 33, 90]);
  const other = random.pick([
    (line: string) => `\u001b[31m│${RESET} ${RESET}${line}`,
    (line: string) => `\u001b[${color}m${line}${RESET}`,
  ]);
  return eachLine(text, (line) => colored(line, other));
}

/** The stream of a log, and the times of its lines. */
function lines(random: Random): {stream: string; next: () => string} {
  const start = time(random, 3).slice(0, -1);
  let nanoseconds = random.below(900_000);
  const next = (): string => {
    nanoseconds += random.below(2000);
    return `${start}${String(nanoseconds).padStart(6, '0')}Z`;
  };
  return {stream: random.pick(['stdout', 'stderr']), next};
}

function event(text: string, random: Random): string {
  const fields = {
    timestamp: time(random, 6),
    level: random.pick(['info', 'debug', 'error']),
    logger: 'tacoagent.worker',
    event: text,
  };
  return JSON.stringify({...fields, run_id: `run-v0${random.signs('lowerDigits', 17)}`});
}

function docker(text: string, random: Random): string {
  const {stream, next} = lines(random);
  return eachLine(
    text,
    (line) => `{"log":"${goJson(line)}\\n","stream":"${stream}","time":"${next()}"}`,
  );
}

function cri(text: string, random: Random): string {
  const {stream, next} = lines(random);
  return eachLine(text, (line) => `${next()} ${stream} F ${line}`);
}

const MODULES = [
  'provider.terraform-provider-aws_v5.76.0_x5',
  'provider',
  'core',
  'provider.stdio',
  'local-exec: Executing',
  'backend/remote',
];

export const PLAIN: Wrapper = {name: 'plain', wrap: same, inside: same};

export const WRAPPERS: readonly Wrapper[] = [
  {name: 'event', wrap: event, inside: json},
  {name: 'colors', wrap: colors, inside: same},
  {
    name: 'hclog',
    wrap: (text, random) =>
      `${time(random, 3)} [${random.pick(['DEBUG', 'TRACE', 'INFO', 'ERROR'])}] ${random.pick(MODULES)}: ${text}`,
    inside: same,
  },
  {
    name: 'klog',
    wrap: (text, random) =>
      `${random.pick(['I', 'E', 'W'])}1124 ${time(random, 6).slice(11, 26)}       1 ${random.pick(['round_trippers.go:466', 'controller.go:114', 'request.go:1212'])}] ${text}`,
    inside: same,
  },
  {name: 'docker', wrap: docker, inside: goJson},
  {name: 'cri', wrap: cri, inside: same},
  {
    name: 'nested',
    wrap: (text, random) => docker(event(text, random), random),
    inside: (secret) => goJson(json(secret)),
  },
];
