import {type Variable, variableIn} from '../variable.ts';
import type {HostCall} from './system.ts';

/** A file of variables; an optional one may be missing. */
export interface EnvironmentFile {
  path: string;
  isOptional: boolean;
}

/** Properties of services, with drop-ins, specifiers and quotes resolved by systemd. */
export const showServices = (
  names: readonly string[],
  properties: readonly string[],
): HostCall => ({
  tool: 'systemctl',
  args: [
    'show',
    '--no-pager',
    `--property=${properties.join(',')}`,
    ...names.map((name) => `${name}.service`),
  ],
});

/** Properties of one service; one that has several lines has the last. */
export const propertiesIn = (text: string): Record<string, string> =>
  Object.fromEntries(
    [...text.matchAll(/^(\w+)=(.*)$/gm)].map(([, key = '', value = '']) => [key, value]),
  );

/** `EnvironmentFiles=` has a line for each file. */
export const environmentFilesIn = (text: string): EnvironmentFile[] =>
  [...text.matchAll(/^EnvironmentFiles=(.+) \(ignore_errors=(yes|no)\)$/gm)].map(
    ([, path = '', ignores]) => ({path, isOptional: ignores === 'yes'}),
  );

/** The variables of `Environment=`, where a word with special characters is in double quotes. */
export const environmentIn = (text: string): Variable[] =>
  [...(propertiesIn(text)['Environment'] ?? '').matchAll(/"((?:[^"\\]|\\.)*)"|[^\s"]+/g)].flatMap(
    ([word, quoted]) => variableIn(quoted === undefined ? word : unescaped(quoted)) ?? [],
  );

const CONTROLS: Readonly<Record<string, string>> = {n: '\n', r: '\r', t: '\t'};

const unescaped = (text: string): string =>
  text.replace(/\\(.)/g, (_, sign: string) => CONTROLS[sign] ?? sign);

/** Quoted parts come first, and the rest of a line is literal, except for backslashes. */
const ASSIGNMENT =
  /^[ \t]*(?:export[ \t]+)?([A-Za-z_]\w*)[ \t]*=((?:[ \t]*(?:"(?:[^"\\]|\\.)*"|'[^']*'))*)((?:\\.|[^\\\n])*)/gms;

/** Variables in the text of an EnvironmentFile, as systemd reads it. */
export const parseEnvironmentFile = (text: string): Variable[] =>
  [...text.matchAll(ASSIGNMENT)].map(([, name = '', quoted = '', rest = '']) => ({
    name,
    value: unquoted(quoted) + rest.trim().replace(/\\(.)/gs, continued),
  }));

const unquoted = (text: string): string =>
  [...text.matchAll(/"((?:[^"\\]|\\.)*)"|'([^']*)'/gs)]
    .map(([, double, single = '']) => double?.replace(/\\(["\\$`\n])/g, continued) ?? single)
    .join('');

/** A backslash at the end of a line continues the line. */
const continued = (_: string, sign: string): string => (sign === '\n' ? '' : sign);
