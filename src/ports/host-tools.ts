import type {ApiError, LogStream} from './log-stream.ts';

/** One call of a tool that knows what runs on this machine; it only reads. */
export interface HostCall {
  tool: 'docker' | 'journalctl' | 'systemctl';
  args: readonly string[];
}

/** What was said before it failed is there. */
export type HostAnswer = {stdout: string; trouble?: HostTrouble};
export type HostTrouble = ApiError & {isToolMissing?: true};

/** Docker and systemd of this machine. Whatever befalls a call is its answer; nothing is thrown. */
export interface HostTools {
  /** For what is small. */
  run(call: HostCall, wish: {over: AbortSignal}): Promise<HostAnswer>;
  /** For logs of any size: whole lines of its output, and of its error output where `isLogOnBoth`. */
  stream(call: HostCall, wish: {over: AbortSignal; isLogOnBoth?: boolean}): Promise<LogStream | {trouble: HostTrouble}>;
}

interface Known {
  words: RegExp;
  kind: HostTrouble['kind'];
  /** What is wrong and what to do, instead of the words of the tool. */
  message: string;
}

/** What docker and systemd say in plain English locales when they cannot answer. */
const KNOWN: readonly Known[] = [
  {
    words: /permission denied.*docker|docker.*permission denied/i,
    kind: 'forbidden',
    message: 'this account may not use docker: repeat it with sudo, or as a member of the group docker',
  },
  {
    words: /cannot connect to the docker daemon|is the docker daemon running|error during connect/i,
    kind: 'unreachable',
    message: 'no docker daemon answers: start it, or check DOCKER_HOST and docker context ls',
  },
  {
    words: /no such (container|object)/i,
    kind: 'not-found',
    message: 'there is no such container: docker ps --all lists them; one that was started with --rm is gone with its log',
  },
  {
    words: /logging driver does not support reading/i,
    kind: 'refused',
    message: 'its logging driver keeps no log that docker can read: take it from where the driver sends it',
  },
  {
    words: /not seeing messages from (other users|the system)|insufficient permissions/i,
    kind: 'forbidden',
    message: 'this account may not read the whole journal: repeat it with sudo, or as a member of the group systemd-journal',
  },
  {
    words: /no journal files were found/i,
    kind: 'not-found',
    message: 'this machine keeps no journal: look in /var/log, and at Storage= in /etc/systemd/journald.conf',
  },
  {
    words: /not been booted with systemd|failed to connect to bus/i,
    kind: 'unreachable',
    message: 'systemd does not answer here: run it on the machine of the agent, not in a container',
  },
  {
    words: /no files found for/i,
    kind: 'not-found',
    message: 'there is no such unit: systemctl list-units --all "scalr*" lists them',
  },
];

/** What the words of a failed tool mean; undefined for those that are no trouble. */
export const knownTrouble = (words: string): HostTrouble | undefined => {
  const known = KNOWN.find((each) => each.words.test(words));
  return known && {kind: known.kind, message: known.message};
};

/** Why a call that failed did so. */
export const hostTrouble = ({tool, args}: HostCall, words: string): HostTrouble =>
  knownTrouble(words) ?? {kind: 'refused', message: words.trim().split('\n').at(-1) || `${tool} ${args[0]} failed without a word`};

export const missingTool = ({tool}: HostCall): HostTrouble => ({kind: 'not-found', message: `${tool} is not on PATH`, isToolMissing: true});
