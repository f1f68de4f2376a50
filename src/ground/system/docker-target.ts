import type {ProcessResult} from '../command-line.ts';
import {ExitCode, type ExpectedError, failed} from '../errors.ts';
import type {HostCall, HostTools, Processes} from './system.ts';
import {VerifiedCall} from './verified-call.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Docker answers questions about itself within this time. */
const ASK_MS = 15_000;
/** How long an engine counts as verified. */
const VERIFIED_MS = 1000;

/** The Docker Engine of a command: resolved before its first call, selected by every call, and compared before changes. */
export class DockerTarget {
  #resolved: Promise<Resolved> | undefined;
  #verifiedAt = 0;
  readonly #host: HostTools;
  readonly #env: Environment;

  constructor(host: HostTools, env: Environment) {
    this.#host = host;
    this.#env = env;
  }

  /** The same tools, docker with this engine. */
  tools(): HostTools {
    const {run, stream} = this.#host;
    return {
      run: async (call, options) => run(await this.#selected(call), options),
      stream: async (call, options) => stream(await this.#selected(call), options),
    };
  }

  /** The same tools, docker with this engine; a change fails if another engine answers now. */
  guard(processes: Processes): Processes {
    return {
      run: async (call, options) =>
        processes.run(call.tool === 'docker' ? await this.#selected(call) : call, options),
      start: (call) =>
        call.tool === 'docker'
          ? new VerifiedCall(processes, async () => {
              const failure = await this.#verify();
              return failure ? {failure} : {call: await this.#selected(call)};
            })
          : processes.start(call),
    };
  }

  async #selected<C extends {tool: string; args: readonly string[]}>(call: C): Promise<C> {
    if (call.tool !== 'docker') return call;
    this.#resolved ??= this.#resolve();
    const {flags} = await this.#resolved;
    return {...call, args: [...flags, ...call.args]};
  }

  /** The variables of this process do not change; the current context does. */
  async #resolve(): Promise<Resolved> {
    const {DOCKER_HOST: host} = this.#env;
    const context = host ? '' : await this.#ask(CONTEXT);
    const flags = host ? ['--host', host] : selecting(context);
    return {flags, context, engine: this.#ask([...flags, ...ENGINE])};
  }

  /** What docker reported if it does not answer any more. @throws ExpectedError for another engine */
  async #verify(): Promise<ProcessResult | undefined> {
    this.#resolved ??= this.#resolve();
    const {flags, context, engine} = await this.#resolved;
    const planned = await engine;
    if (planned === '' || Date.now() - this.#verifiedAt < VERIFIED_MS) return undefined;
    const {stdout, error} = await this.#run([...flags, ...ENGINE]);
    const found = stdout.trim();
    // With an error of the engine, docker prints an empty ID and succeeds.
    const {message = 'docker info printed no ID of the engine'} = error ?? {};
    if (found === '' || error) return {exitCode: ExitCode.failed, stdout: '', stderr: message};
    if (found !== planned) throw engineChanged(context, planned, found);
    this.#verifiedAt = Date.now();
    return undefined;
  }

  /** Empty if docker does not answer. */
  async #ask(args: HostCall['args']): Promise<string> {
    const {stdout, error} = await this.#run(args);
    return error === undefined ? stdout.trim() : '';
  }

  #run(args: HostCall['args']): ReturnType<HostTools['run']> {
    return this.#host.run({tool: 'docker', args}, {signal: AbortSignal.timeout(ASK_MS)});
  }
}

interface Resolved {
  /** Flags of docker that select the engine; none if docker cannot name its context. */
  flags: readonly string[];
  /** Empty with DOCKER_HOST. */
  context: string;
  /** ID of the engine of the plan; empty if it is unknown. */
  engine: Promise<string>;
}

const CONTEXT = ['context', 'inspect', '--format', '{{.Name}}'];
const ENGINE = ['info', '--format', '{{.ID}}'];

const selecting = (context: string): string[] => (context === '' ? [] : ['--context', context]);

function engineChanged(context: string, planned: string, found: string): ExpectedError {
  const selection = context === '' ? 'DOCKER_HOST' : `Docker context ${context}`;
  const check = ['docker', ...selecting(context), 'info'].join(' ');
  return failed(
    'TARGET_CHANGED',
    `${selection} no longer selects the Docker Engine of the plan. Its ID was ${planned}, and now it is ${found}. Nothing more was changed.`,
    [
      `Check which engine is selected: ${check}`,
      'Select the engine of the plan again, then run the same command',
    ],
  );
}
