import {knownSecretSet} from '../../../../src/extensions/bundle/redact/known-values.ts';
import {type Redactor, redactor} from '../../../../src/extensions/bundle/redact/redactor.ts';
import {Secret} from '../../../../src/ground/secret.ts';

export const known = (
  values: Readonly<Record<string, string>>,
): ReturnType<typeof knownSecretSet> =>
  knownSecretSet(Object.entries(values).map(([kind, value]) => ({kind, value: new Secret(value)})));

export const KEY = Buffer.alloc(32, 7);
export const redactorOf = (values: Readonly<Record<string, string>> = {}): Redactor =>
  redactor({knownSecrets: known(values), key: KEY});

/** A file in the given chunks. */
export function redacted(through: Redactor, chunks: readonly Buffer[]): Buffer {
  const file = through.file('log');
  return Buffer.concat([...chunks.map((chunk) => file.push(chunk)), file.end()]);
}

/** What somebody would see of a text. */
export const seen = (text: string, values: Readonly<Record<string, string>> = {}): string =>
  redacted(redactorOf(values), [Buffer.from(text, 'utf8')]).toString('utf8');
