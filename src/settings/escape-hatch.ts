import {defineSetting, type Kind} from './define.ts';
import {asHelmSet, readHelmSet} from './helm-set.ts';
import {text} from './kinds.ts';
import {listOf, pairs, variables} from './lists.ts';
import {keySoundsSecret, variableSoundsSecret} from './secret.ts';

export const set = defineSetting({
  id: 'set',
  group: 'Escape hatch',
  question: 'Value of the chart that has no flag',
  summary: 'Value of the chart that has no flag, checked against its version; may be repeated.',
  kind: assignments(),
  holdsSecret: (map) => Object.entries(map).some(([path, text]) => [keyAtEnd(path), ...keysIn(text)].some(keySoundsSecret)),
});

/** A file as it was named, and what is in it. */
export interface ValuesFile {
  file: string;
  text: string;
}

export const valuesFile = defineSetting({
  id: 'values-file',
  group: 'Escape hatch',
  question: 'File with values of the chart',
  summary: 'Values of the chart from a file; several are merged as Helm merges them, and flags override them. May be repeated.',
  kind: valuesFiles(),
});

export const extraEnv = defineSetting({
  id: 'extra-env',
  group: 'Escape hatch',
  question: 'Environment variable of the agent',
  summary: 'Environment variable of the agent and, where the chart can, of the runs; may be repeated.',
  kind: variables(),
  holdsSecret: (map) => Object.keys(map).some(variableSoundsSecret),
  caution: (map) => {
    const secret = Object.keys(map).find(variableSoundsSecret);
    return secret === undefined
      ? undefined
      : `${secret} sounds secret, and it stands in clear text in values.yaml, in the Helm release and in every pod. Keep it in a Secret or in Scalr.`;
  },
});

const keyAtEnd = (path: string): string => path.split(/(?<!\\)\./).at(-1) as string;
/** The keys of a value in JSON, and the names of variables in a list of them. */
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

/** Assignments to paths of values.yaml, `a.b=value` with dots inside keys written `\.`. */
function assignments(): Kind<Readonly<Record<string, string>>> {
  const kind = pairs({hint: 'path=value', key: /^[^\s=]+$/, expected: 'a path of values.yaml', byLine: true});
  return {
    ...kind,
    // A mapping of an answers file says paths and values apart; Helm's syntax is for one line.
    parse: (raw, context) => kind.parse(isListOfTexts(raw) ? readHelmSet(raw.filter((each) => each.trim() !== '')) : raw, context),
    format: (map) => Object.entries(map).map(([path, value]) => asHelmSet(path, value)),
  };
}

const isListOfTexts = (raw: unknown): raw is string[] => Array.isArray(raw) && raw.every((each) => typeof each === 'string');
