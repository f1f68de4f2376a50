import {keySoundsSecret, variableSoundsSecret} from '../ground/secret.ts';
import {defineSetting, type Setting} from './define.ts';
import {assignments} from './kinds/helm-set.ts';
import type {Kind} from './kinds/kind.ts';
import {listOf, variables} from './kinds/lists.ts';
import {onOff, text} from './kinds/texts.ts';

export const allowClearText = defineSetting('Chart values', 'allow-clear-text', {
  question: 'Store recognized credentials in clear text?',
  summary:
    'Write tokens, private keys and passwords in URLs to values and files. By default, they are rejected.',
  kind: onOff(),
  explained:
    'Everyone who can read the file, the Helm release or the pods can read the credential. Rotate it if the file was committed.',
});

/** A file path as given, and the file content. */
export interface ValuesFile {
  file: string;
  text: string;
}

export const valuesFile = defineSetting('Chart values', 'values-file', {
  question: 'Values file',
  summary:
    'Values file for the chart. Flags override its values. Later files override earlier ones, as in Helm.',
  kind: valuesFiles(),
});

export const set = defineSetting('Chart values', 'set', {
  question: 'Chart value without a flag',
  summary: 'Chart value that has no flag. Validated against the chart version.',
  kind: assignments(),
  holdsSecret: (map) =>
    Object.entries(map).some(([path, text]) =>
      [keyAtEnd(path), ...keysIn(text)].some(keySoundsSecret),
    ),
  recorded: (text) => withoutSecret(text, (path) => keySoundsSecret(keyAtEnd(path))),
});

export const extraEnv = defineSetting('Chart values', 'extra-env', {
  question: 'Extra environment variable',
  summary: 'Extra environment variable for the agent and, if the chart supports it, for runs.',
  kind: variables(),
  holdsSecret: (map) => Object.keys(map).some(variableSoundsSecret),
  recorded: (text) => withoutSecret(text, variableSoundsSecret),
});

/** `NAME=value` without a value that its name tells to be a secret. */
function withoutSecret(text: string, soundsSecret: (name: string) => boolean): string {
  const name = text.slice(0, text.indexOf('='));
  return soundsSecret(name) ? `${name}=<value>` : text;
}

const keyAtEnd = (path: string): string => path.split(/(?<!\\)\./).at(-1) as string;

/** The keys of a JSON value, and the variable names in a list of variables. */
const keysIn = (text: string): string[] =>
  [...text.matchAll(/"([^"]+)"\s*(?::|,\s*"value"\s*:)/g)].map(([, key]) => key as string);

function valuesFiles(): Kind<readonly ValuesFile[]> {
  const {fromValues: _, ...names} = listOf(text({hint: 'FILE'}));
  return {
    ...names,
    isFile: true,
    parse: (raw) => raw as ValuesFile[],
    format: (files) => files.map(({file}) => file),
    shown: (files) => files.map(({file}) => file).join(', '),
  };
}

export const chartValueSettings: readonly Setting[] = [valuesFile, set, extraEnv, allowClearText];
