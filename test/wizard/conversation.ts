import type {App} from '../../src/cli/app.ts';
import type {KubernetesClient} from '../../src/cluster/kubernetes/client.ts';
import Install from '../../src/commands/install.ts';
import {sleep} from '../../src/ground/async.ts';
import {ExpectedError, PromptCanceled} from '../../src/ground/errors.ts';
import type {
  Choice,
  HostTools,
  InputQuestion,
  ListQuestion,
  Processes,
} from '../../src/ground/system/system.ts';
import {failingKubernetes} from '../support/fake-kubernetes.ts';
import {memoryFiles} from '../support/memory-files.ts';
import {runCommand} from '../support/run-command.ts';
import {ENTER, type Line, scriptedPrompter} from '../support/scripted-prompter.ts';

/** Quits at the review without saving. */
export const QUIT: Line[] = [
  ['What do you want to do?', 'quit'],
  ['Quit without saving files?', 'y'],
];
/** Quits at the review without saving an edit. */
export const QUIT_STALE: Line[] = [
  ['What do you want to do?', 'quit'],
  ['The saved files are out of date. Quit without saving again?', 'y'],
];
/** Shows values.yaml, then quits. */
export const VIEW_AND_QUIT: Line[] = [['What do you want to do?', 'view'], ...QUIT];
/** Without kubectl, only files can be written. */
export const FILES_ONLY: Line = ['Where will the agent run', ENTER];

/** Ctrl-C at a question. */
export const interrupt = (question: string): Line => [
  question,
  new Proxy([], {
    get() {
      throw new PromptCanceled();
    },
  }) as readonly string[],
];

/** A machine without helm and kubectl. */
const nothing = (): never => {
  throw new ExpectedError('kubectl not found on PATH.', {
    code: 'TOOL_NOT_FOUND',
    suggestions: ['Install kubectl'],
  });
};

export const ENV = {HOME: '/home/ops'};
export const KEPT = '/home/ops/.local/state/scalr-agent-install/resume.json';

const NO_KUBECTL = failingKubernetes({
  kind: 'unreachable',
  message: 'kubectl not found on PATH.',
  cause: new Error('kubectl not found on PATH.'),
});

const missing = {
  kind: 'not-found',
  message: 'docker not found on PATH',
  isToolMissing: true,
} as const;
export const NO_DOCKER: HostTools = {
  run: async () => ({stdout: '', error: missing}),
  stream: async () => ({error: missing}),
};

/** What one question, the last one of its kind, offered. */
export function choicesOf(
  asked: readonly (InputQuestion | ListQuestion)[],
  message: string,
): readonly Choice[] {
  const question = asked.findLast((each) => each.message.includes(message));
  return question !== undefined && 'choices' in question ? question.choices : [];
}

/** Everything that was shown above a question, in order. */
export const shown = (asked: readonly (InputQuestion | ListQuestion)[]): string =>
  asked.flatMap(({heading = []}) => heading).join('\n');

interface Place {
  argv?: readonly string[];
  env?: Readonly<Record<string, string>>;
  files?: ReturnType<typeof memoryFiles>;
  /** Of helm and kubectl. */
  answer?: Processes['run'];
  kubernetes?: KubernetesClient;
  /** Docker of the machine. */
  host?: HostTools;
  requireTool?: App['requireTool'];
  /** Lines stay on the screen, as for a screen reader. */
  isPlain?: boolean;
}

/** The conversation with this operator on a terminal, where no cluster is. Every line has to be reached. */
export async function talk(
  lines: readonly Line[],
  {
    argv = [],
    env = {},
    files = memoryFiles(),
    answer = nothing,
    kubernetes = NO_KUBECTL,
    host = NO_DOCKER,
    isPlain = false,
    requireTool = async () => undefined,
  }: Place = {},
) {
  const operator = scriptedPrompter(lines);
  const result = await runCommand(Install, [...argv], {
    env: {...ENV, ...env},
    files,
    hasTerminal: true,
    requireTool,
    prompter: {...operator.prompter, canRedraw: !isPlain},
    sleep,
    processes: () => ({run: async (call, how) => answer(call, how), start: nothing}),
    kubernetes: async () => kubernetes,
    host,
  });
  // A question that nobody expected arrives as a failure of the command.
  if (/This is a bug/.test(result.stderr)) throw new Error(result.stderr);
  operator.done();
  const written = new Map(files.written.map(({path, text}) => [path, text]));
  return {...result, files, written, asked: operator.asked};
}

const part = (claims: object): string => Buffer.from(JSON.stringify(claims)).toString('base64url');

/** A token as Scalr makes them, as far as it is known. */
export const jwt = (claims: object): string =>
  `${part({alg: 'HS256'})}.${part(claims)}.c2lnbmF0dXJl`;

const MENU = 'What do you want to do?';

/** Opens a row of Change, answers its questions, and returns to the review. */
export const change = (row: string, ...lines: readonly Line[]): Line[] => [
  [MENU, 'change'],
  ['Change', row],
  ...lines,
  ['Change', 'done'],
];

/** A row of the last review. */
export function rowOf(screen: string, label: string): string {
  const review = screen.slice(screen.lastIndexOf('◆  Review'));
  const [, row = ''] =
    new RegExp(`\\n [ !] (${label} [^\\n]*(?:\\n {13}[^\\n]*)*)`).exec(review) ?? [];
  return row.replaceAll(/\s+/g, ' ').trim();
}

/** All reviews that were shown, in order. */
export const reviewsIn = (screen: string): string[] =>
  screen
    .split('◆  Review')
    .slice(1)
    .map((text) => `Review${text}`);
