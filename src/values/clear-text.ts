import {credentialsIn} from '../ground/credentials.ts';
import {type ExpectedError, failed} from '../ground/errors.ts';
import {isMap, type Tree, type Values} from '../ground/tree.ts';
import {allowClearText} from '../settings/chart-values.ts';
import {type Setting, spell} from '../settings/define.ts';
import {httpProxy, httpsProxy} from '../settings/network.ts';
import type {Settings} from '../settings/settings.ts';
import {dotted, type TreePath} from './reading/tree-path.ts';

/** A credential in values: where it is, and what it is. */
export interface ClearText {
  path: TreePath;
  kind: string;
}

/** The credentials in values, in texts and in keys. */
export function clearTextIn(tree: Tree, path: TreePath = []): ClearText[] {
  if (typeof tree === 'string') return credentialsIn(tree).map(({kind}) => ({path, kind}));
  if (Array.isArray(tree))
    return tree.flatMap((below, index) => clearTextIn(below, [...path, index]));
  if (!isMap(tree)) return [];
  return Object.entries(tree).flatMap(([key, below]) => {
    const own = [...path, key];
    return [...credentialsIn(key).map(({kind}) => ({path: own, kind})), ...clearTextIn(below, own)];
  });
}

/** A credential that a command would write: its place, and the setting that contains it. */
export interface WrittenCredential {
  place: string;
  kind: string;
  setting?: Setting | undefined;
}

const PROXIES: readonly (Setting | undefined)[] = [httpProxy, httpsProxy] as Setting[];

/** `where` completes "would be stored in clear text in …". */
export function clearTextError(found: readonly WrittenCredential[], where: string): ExpectedError {
  const lines = found.map(({place, kind, setting}) =>
    [setting === undefined ? '' : `${spell(setting)}: `, `${place} contains ${kind}.`].join(''),
  );
  const hasProxy = found.some(
    ({setting, place}) => PROXIES.includes(setting) || /proxy/i.test(place),
  );
  const suggestions = [
    hasProxy
      ? 'Use a proxy without a password: no chart version reads a proxy password for runs from a Secret'
      : 'Remove it, and store it in a Kubernetes Secret or in Scalr',
    `To store it in clear text, add ${spell(allowClearText)}`,
  ];
  return failed(
    'CLEAR_TEXT_CREDENTIAL',
    [`A credential would be stored in clear text in ${where}.`, ...new Set(lines)].join('\n'),
    suggestions,
  );
}

/** What the values of a release are written to. */
export const OF_RELEASE = 'values.yaml and the Helm release';

/** Refuses credentials in generated values, unless the user allows them. @throws ExpectedError */
export function refuseClearText(
  values: Values,
  settings: Settings,
  writerOf: (path: readonly string[]) => Setting | undefined,
): void {
  if (settings.get(allowClearText) === true) return;
  const found = clearTextIn(values).map(({path, kind}) => ({
    place: dotted(path),
    kind,
    setting: writerOf(path.map(String)),
  }));
  if (found.length > 0) throw clearTextError(found, OF_RELEASE);
}
