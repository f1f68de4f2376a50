import {type AccountPool, accountPoolIn, accountTokenIn} from '../cluster/release/account-token.ts';

import {failed} from '../ground/errors.ts';
import type {Secret} from '../ground/secret.ts';
import type {Files} from '../ground/system/system.ts';

const RECORD = /^# (scalr\.io\/[\w-]+)=(\S+)\r?\n/gm;
const TOKEN = /^SCALR_AGENT_TOKEN=(.*)$/m;

type Annotations = Readonly<Record<string, string>>;

/** The environment file of agents on this machine: their token, and in comments what a Secret has as annotations. */
export class TokenFile {
  readonly path: string;
  readonly #files: Files;
  readonly #text: string;

  private constructor(path: string, files: Files, text: string) {
    this.path = path;
    this.#files = files;
    this.#text = text;
  }

  /** @throws ExpectedError if another program manages the file */
  static async read(path: string, files: Files): Promise<TokenFile> {
    const text = (await files.kindOf(path)) === 'file' ? String(await files.read(path)) : '';
    if (TOKEN.test(text)) return new TokenFile(path, files, text);
    throw failed(
      'OBJECT_NOT_OWNED',
      `${path} does not contain SCALR_AGENT_TOKEN, or is not readable.`,
      ['Run the command with sudo', 'If another program manages the token, replace it there'],
    );
  }

  get annotations(): Annotations {
    return annotationsIn(this.#text);
  }

  get pool(): AccountPool | undefined {
    return accountPoolIn(this.#record);
  }

  get tokenId(): string | undefined {
    return accountTokenIn(this.#record)?.tokenId;
  }

  get #record() {
    return {metadata: {name: this.path, annotations: this.annotations}};
  }

  hasToken(token: Secret): boolean {
    return TOKEN.exec(this.#text)?.[1] === token.reveal();
  }

  variable(name: string): string | undefined {
    return new RegExp(`^${name}=(\\S+)$`, 'm').exec(this.#text)?.[1];
  }

  /** Writes another token, and the annotations for it. */
  async replace(token: Secret, annotations: Annotations): Promise<void> {
    const text = String(await this.#files.read(this.path));
    const next = text.replace(TOKEN, () => `SCALR_AGENT_TOKEN=${token.reveal()}`);
    await this.#write(next, annotations);
  }

  /** Removes an annotation from the current file, which may have changed since it was read. */
  async forget(annotation: string): Promise<void> {
    const text = String(await this.#files.read(this.path));
    const {[annotation]: _, ...kept} = annotationsIn(text);
    await this.#write(text, kept);
  }

  async #write(text: string, annotations: Annotations): Promise<void> {
    const record = Object.entries(annotations).map(([key, value]) => `# ${key}=${value}\n`);
    const lines = text.replace(RECORD, '');
    await this.#files.write(this.path, `${record.join('')}${lines}`, {isPrivate: true});
  }
}

const annotationsIn = (text: string): Annotations =>
  Object.fromEntries([...text.matchAll(RECORD)].map(([, key, value]) => [key, value]));
