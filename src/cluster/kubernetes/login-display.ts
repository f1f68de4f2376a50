import {PluginOutput} from '../../ground/credential-plugin.ts';

/** Shows a person what a credential plugin prints, for example the address of a login page. */
export interface LoginTerminal {
  show(line: string): void;
}

/** A plugin that is done sooner needs no person: what it prints are warnings. */
const QUIET_MS = 1000;

/** Keeps what a plugin prints, and shows it on the terminal while the plugin waits. */
export class LoginOutput {
  readonly #output = new PluginOutput();
  readonly #terminal: LoginTerminal | undefined;
  #state: 'quiet' | 'shown' | 'over' = 'quiet';
  #timer: NodeJS.Timeout | undefined;

  constructor(terminal: LoginTerminal | undefined) {
    this.#terminal = terminal;
  }

  hear(stderr: string): void {
    const lines = this.#output.hear(stderr);
    if (this.#terminal === undefined || this.#state === 'over') return;
    if (this.#state === 'shown') this.#show(lines);
    else if (this.text !== '') this.#timer ??= setTimeout(() => this.#start(), QUIET_MS);
  }

  /** The plugin no longer waits. */
  end(): void {
    clearTimeout(this.#timer);
    this.#state = 'over';
  }

  get text(): string {
    return this.#output.text;
  }

  #start(): void {
    this.#state = 'shown';
    this.#show(this.text.split('\n'));
  }

  #show(lines: readonly string[]): void {
    for (const line of lines) this.#terminal?.show(line);
  }
}
