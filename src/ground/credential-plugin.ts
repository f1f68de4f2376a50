import {stripVTControlCharacters} from 'node:util';
import {type ClusterSelection, kubectlCommand} from './command-line.ts';
import {maskSecrets} from './errors.ts';
import type {Remedy} from './finding.ts';
import {LOG_IN, loginSteps} from './identity.ts';

/** The credential plugin of a kubeconfig user (`exec`). */
export interface CredentialPlugin {
  command: string;
  apiVersion?: string | undefined;
  installHint?: string | undefined;
}

/** What is known about a failed login besides the message of kubectl or helm. */
export interface LoginAttempt {
  cluster: ClusterSelection;
  plugin?: CredentialPlugin | undefined;
  /** What the plugin printed. */
  output?: string;
}

/** A sentence without a full stop, and what to do about it. */
export interface AccessProblem {
  text: string;
  steps: readonly (string | Remedy)[];
}

interface Failure {
  message: RegExp;
  explain(match: readonly string[], name: string, attempt: LoginAttempt): AccessProblem;
}

/** Messages of client-go, in kubectl and helm. The first match wins. */
const FAILURES: readonly Failure[] = [
  {
    message: /exec: executable (\S+) not found|exec: fork\/exec ([^:]+): no such file or directory/,
    explain: ([, onPath, path], _, {plugin}) => ({
      text: `The credential plugin ${onPath ?? path} of the kubeconfig is not installed`,
      steps: [
        plugin?.installHint?.trim() || `Install ${onPath ?? path}, or use another kubeconfig`,
        'Then run the command again',
      ],
    }),
  },
  {
    message: /exec: fork\/exec ([^:]+): ([^\n]+)/,
    explain: ([, path, why]) => ({
      text: `The credential plugin ${path} of the kubeconfig cannot be executed (${why})`,
      steps: ['Correct the plugin or its path in the kubeconfig'],
    }),
  },
  {
    message: /exec plugin: invalid apiVersion "([^"]+)"|is registered for version "([^"]+)"/,
    explain: ([, configured, returned], name) => ({
      text: `${name} uses ${configured ?? returned}, which kubectl and helm no longer support`,
      steps: [
        'Create the kubeconfig again with the latest CLI of your cluster provider',
        'Or update the plugin, and set apiVersion in the kubeconfig to client.authentication.k8s.io/v1beta1',
      ],
    }),
  },
  {
    message: /plugin returned version ([^\s"]+)/,
    explain: ([, version], name, {plugin}) => ({
      text: `${name} returned ${version}, but the kubeconfig requests ${plugin?.apiVersion ?? 'another version'}`,
      steps: [
        'Set apiVersion in the kubeconfig to the version of the plugin, or update the plugin',
      ],
    }),
  },
  {
    message: /cannot support interactive mode/,
    explain: (_, name) => ({
      text: `${name} prompts for input, which only kubectl on a terminal supports`,
      steps: [
        'Set interactiveMode: IfAvailable in the kubeconfig, log in with the plugin, then run the command again',
      ],
    }),
  },
  {
    message: /decoding stdout: ([^\n]*)/,
    explain: ([, why], name, {plugin}) => ({
      text: `${name} printed text other than credentials to standard output (${why})`,
      steps: [
        `Run ${plugin?.command ?? 'the plugin'} to see the text, for example a banner or an update notice`,
        'Turn off the text, or redirect it to standard error',
      ],
    }),
  },
  {
    message: /didn't return a token or cert\/key pair/,
    explain: (_, name, {cluster}) => ({
      text: `${name} returned no credentials`,
      steps: loginSteps(cluster),
    }),
  },
  {
    message: /exec: executable (\S+) failed with exit code (\d+)/,
    explain: ([, , code], name, attempt) => ({
      text: withOutput(`${name} failed with exit code ${code}`, attempt),
      steps: pluginSteps(attempt),
    }),
  },
];

/** Why a credential plugin returned no credentials; undefined if `message` is about something else. */
export function pluginProblem(message: string, attempt: LoginAttempt): AccessProblem | undefined {
  for (const {message: pattern, explain} of FAILURES) {
    const match = pattern.exec(message);
    if (match) return explain(match, pluginName(attempt, message), attempt);
  }
  return undefined;
}

/** The plugin still waits, for example for a login in the browser. Without output, only a configured plugin can be the reason. */
export function waitingProblem(attempt: LoginAttempt): AccessProblem | undefined {
  const {plugin, output = '', cluster} = attempt;
  if (plugin === undefined && output === '') return undefined;
  const text =
    output === ''
      ? `The API server and the credential plugin ${plugin?.command} did not respond in time`
      : withOutput(`${pluginName(attempt)} is still waiting for a login`, attempt);
  return {
    text,
    steps: [
      `Log in first: ${kubectlCommand(cluster, 'auth', 'whoami')}`,
      'Then run the command again',
    ],
  };
}

function pluginName({plugin}: LoginAttempt, message = ''): string {
  const [, path] = /exec: executable (\S+) failed/.exec(message) ?? [];
  const name = plugin?.command ?? path;
  return `The credential plugin ${name === undefined ? '' : `${name} `}of the kubeconfig`;
}

function withOutput(text: string, {output = ''}: LoginAttempt): string {
  return output === '' ? text : `${text}: "${output}"`;
}

/** Tools whose login is a command of its own. */
const LOGINS: readonly (readonly [plugin: RegExp, login: string])[] = [
  [/(^|\/)aws(\.exe)?$/, 'aws sso login'],
  [/(^|\/)(gke-gcloud-auth-plugin|gcloud)/, 'gcloud auth login'],
  [/(^|\/)kubelogin/, 'az login'],
  [/(^|\/)tsh$/, 'tsh kube login'],
  [/(^|\/)doctl$/, 'doctl auth init'],
];

const pluginSteps = ({plugin, cluster}: LoginAttempt): string[] => {
  const [, login] = LOGINS.find(([pattern]) => pattern.test(plugin?.command ?? '')) ?? [];
  return login === undefined
    ? loginSteps(cluster)
    : [`${LOG_IN}, for example with: ${login}`, ...loginSteps(cluster).slice(1)];
};

/** Lines of kubectl, helm and client-go themselves. */
const OWN_LINES =
  /^(?:[EWIF]\d{4} |error: |Error: |Starting to serve on |Please enter (?:Username|Password): |Unable to connect|The connection to the server )/;
/** client-go prints this advice, and the hint of the kubeconfig after it. */
const NOT_INSTALLED = /It looks like you are trying to use a client-go credential plugin/;
const MAX_LINES = 8;
const MAX_LENGTH = 800;

/** What a credential plugin wrote to the standard error of kubectl or helm, without colors and secrets. */
export const pluginOutput = (stderr: string): string => joined(pluginLines(stderr));

/** Its last lines, each once: kubectl runs the plugin again for every request until it succeeds. */
function joined(lines: readonly string[]): string {
  const last = [...new Set(lines)].slice(-MAX_LINES).join('\n');
  return last.length > MAX_LENGTH ? `${last.slice(0, MAX_LENGTH)}…` : last;
}

function pluginLines(stderr: string): string[] {
  const [output = ''] = stderr.split(NOT_INSTALLED, 1);
  return output
    .split(/\r\n|[\r\n]/)
    .map((line) => maskSecrets(withoutControls(line).trimEnd()))
    .filter((line) => line.trim() !== '' && !OWN_LINES.test(line));
}

/** Collects what a plugin prints, out of the standard error of a running kubectl. */
export class PluginOutput {
  #lines: string[] = [];
  #unfinished = '';
  #isNotInstalled = false;

  /** The lines of the plugin that this chunk completes. */
  hear(chunk: string): string[] {
    const text = `${this.#unfinished}${chunk}`;
    const end = Math.max(text.lastIndexOf('\n'), text.lastIndexOf('\r')) + 1;
    this.#unfinished = text.slice(end).slice(-MAX_LENGTH);
    this.#isNotInstalled ||= NOT_INSTALLED.test(text);
    const lines = this.#isNotInstalled ? [] : pluginLines(text.slice(0, end));
    this.#lines = [...new Set([...this.#lines, ...lines])].slice(-MAX_LINES);
    return lines;
  }

  /** A question has no line break at its end. */
  get text(): string {
    return joined([...this.#lines, ...pluginLines(this.#unfinished)]);
  }
}

/** Escape sequences of a plugin must not control the terminal. */
const withoutControls = (line: string): string =>
  stripVTControlCharacters(line).replace(/[^\P{Cc}\t]/gu, '');
