import {keySoundsSecret, variableSoundsSecret} from '../ground/secret.ts';
import {defineSetting, type Kind} from './define.ts';
import {asHelmSet, readHelmSet} from './helm-set.ts';
import {text} from './kinds.ts';
import {listOf, pairs, variables} from './lists.ts';

export const set = defineSetting({
  id: 'set',
  group: 'Chart values',
  question: 'Chart value without a flag',
  summary: 'Chart value that has no flag. Validated against the chart version. Can be repeated.',
  kind: assignments(),
  holdsSecret: (map) => Object.entries(map).some(([path, text]) => [keyAtEnd(path), ...keysIn(text)].some(keySoundsSecret)),
});

/** A file path as given, and the file content. */
export interface ValuesFile {
  file: string;
  text: string;
}

export const valuesFile = defineSetting({
  id: 'values-file',
  group: 'Chart values',
  question: 'Values file',
  summary: 'Values file for the chart. Flags override its values. Can be repeated; later files override earlier files, as in Helm.',
  kind: valuesFiles(),
});

export const extraEnv = defineSetting({
  id: 'extra-env',
  group: 'Chart values',
  question: 'Extra environment variable',
  summary: 'Extra environment variable for the agent and, if the chart supports it, for runs; can be repeated.',
  kind: variables(),
  holdsSecret: (map) => Object.keys(map).some(variableSoundsSecret),
  caution: (map) => {
    const secret = Object.keys(map).find(variableSoundsSecret);
    return secret === undefined
      ? undefined
      : `${secret} looks like a secret, but it is stored in clear text in values.yaml, in the Helm release and in every pod. Store it in a Secret or in Scalr.`;
  },
});

const keyAtEnd = (path: string): string => path.split(/(?<!\\)\./).at(-1) as string;
/** The keys of a JSON value, and the variable names in a list of variables. */
const keysIn = (text: string): string[] => [...text.matchAll(/"([^"]+)"\s*(?::|,\s*"value"\s*:)/g)].map(([, key]) => key as string);

function valuesFiles(): Kind<readonly ValuesFile[]> {
  const names = listOf(text({hint: 'FILE'}));
  return {
    ...names,
    isFile: true,
    parse: (raw) => raw as ValuesFile[],
    format: (files) => files.map(({file}) => file),
    shown: (files) => files.map(({file}) => file).join(', '),
  };
}

/** Assignments to values paths, `a.b=value`; dots inside keys are escaped as `\.`. */
function assignments(): Kind<Readonly<Record<string, string>>> {
  const kind = pairs({hint: 'path=value', key: /^[^\s=]+$/, expected: 'a valid values path', byLine: true});
  return {
    ...kind,
    // A mapping in an answers file separates paths and values; Helm syntax applies to strings only.
    parse: (raw, context) => kind.parse(isListOfTexts(raw) ? readHelmSet(raw.filter((each) => each.trim() !== '')) : raw, context),
    format: (map) => Object.entries(map).map(([path, value]) => asHelmSet(path, value)),
  };
}

const isListOfTexts = (raw: unknown): raw is string[] => Array.isArray(raw) && raw.every((each) => typeof each === 'string');
