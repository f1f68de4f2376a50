import {chartFor} from '../../charts/chart-version.ts';
import {schemaAt} from '../../charts/releases/keys.ts';
import type {Target} from '../../charts/releases/target.ts';
import type {ValuesEntry} from '../../charts/shared/row.ts';
import {isWrittenWithoutRow, rowsFor} from '../../charts/shared/support.ts';
import {hasKey, scopeOf} from '../../charts/support.ts';
import {
  at,
  copyOf,
  getAt,
  isMap,
  leafPaths,
  type Path,
  sameTree,
  setAt,
  spellPath,
  startsWith,
  type Tree,
  type Values,
  withoutLeaves,
} from '../../ground/tree.ts';
import {tokenSecret, tokenSecretKey} from '../../settings/agent.ts';
import {catalog} from '../../settings/catalog.ts';
import type {Setting} from '../../settings/define.ts';
import {canonicalQuantity} from '../../settings/kinds/quantities.ts';
import type {SecretNames} from '../../settings/release.ts';
import {getFrom} from '../../settings/settings.ts';
import {clientCertSecret} from '../../settings/tls.ts';
import {readValues, writtenSettings} from '../reading/read-values.ts';
import {type Change, changeOf} from './change.ts';

/** A setting of the old values, and what the rows of a chart version write for it. */
export interface SettingEntries {
  setting: Setting;
  value: unknown;
  /** The keys of the old values that express it. */
  leaves: readonly Path[];
  before: readonly ValuesEntry[];
}

/** The settings that values express, without chart defaults, in the order of the catalog. */
export function explicitSettings(given: Values, from: Target): SettingEntries[] {
  const values = withTextVariables(given, from);
  const read = readValues(values, from).settings;
  const usual = readValues({}, from).settings;
  const written = writtenSettings(values, from);
  const scope = scopeOf(from, getFrom(read));
  const leaves = leafPaths(values);
  return catalog.flatMap((setting) => {
    if (isWrittenWithoutRow(setting)) return [];
    const value = written.get(setting.id) ?? read.get(setting.id);
    if (value === undefined) return [];
    // A setting without keys can follow from other keys, such as the scope of a CA bundle.
    if (!hasKey(from, setting))
      return sameTree(value, usual.get(setting.id))
        ? []
        : [{setting, value, leaves: [], before: []}];
    if (!written.has(setting.id)) return [];
    const before = rowsFor(chartFor(from), setting, value, scope).flatMap((row) =>
      row.write(value, scope),
    );
    const own = leaves.filter((path) => expresses(before, path, values));
    return own.length === 0 ? [] : [{setting, value, leaves: own, before}];
  });
}

/** True if the entries write this key with this value; the only entry beside a switch can spell the value in another way. */
function expresses(entries: readonly ValuesEntry[], path: Path, values: Values): boolean {
  const found = getAt(values, path) as Tree;
  const isOnly = entries.filter(([, value]) => value !== true).length <= 1;
  return entries.some(([key, value]) => {
    if (!startsWith(path, key)) return false;
    const own = isMap(value) ? getAt(value, path.slice(key.length)) : value;
    return (
      own !== undefined &&
      (entries.length === 1 || (isOnly && own !== true) || isSameValue(own, found))
    );
  });
}

/** True for the same value, also as a text or as another notation of the same quantity. */
export const isSameValue = (one: Tree | undefined, other: Tree | undefined): boolean =>
  sameTree(one, other) ||
  (isScalar(one) && isScalar(other) && quantityOf(one) === quantityOf(other));

const isScalar = (tree: Tree | undefined): boolean =>
  tree !== undefined && tree !== null && typeof tree !== 'object';
const quantityOf = (tree: Tree | undefined): string =>
  canonicalQuantity(String(tree)) ?? String(tree);

/** Variables as texts, because templates print them as texts. */
export function withTextVariables(values: Values, target: Target): Values {
  const copy = copyOf(values);
  const maps = chartFor(target).containers.flatMap(({extraEnv}) => extraEnv.map(at));
  for (const map of maps) {
    const found = getAt(copy, map);
    for (const [name, value] of Object.entries(isMap(found) ? found : {}))
      if (Number.isSafeInteger(value) || typeof value === 'boolean')
        setAt(copy, [...map, name], String(value));
  }
  return copy;
}

/** Replaces secrets by the names of Kubernetes Secrets that the user must create. */
export function extractSecrets(
  given: Values,
  from: Target,
  names: SecretNames,
): {values: Values; settings: SettingEntries[]; changes: Change[]} {
  const isSecret = (path: Path): boolean =>
    schemaAt(from, path)?.['x-secret'] === true &&
    ![null, ''].includes(getAt(given, path) as string);
  const secrets = leafPaths(given).filter(isSecret);
  const certificates = secrets
    .filter((path) => path.at(-1) === 'clientKey')
    .map((path) => [...path.slice(0, -1), 'clientCert']);
  const gone = new Set([...secrets, ...certificates].map(spellPath));
  const values = copyOf(withoutLeaves(given, (path) => gone.has(spellPath(path))));
  const known = explicitSettings(values, from);
  const replaced = secrets.map((path) => replaceSecret(path, known, names));
  return {
    values,
    settings: [...known, ...replaced.flatMap(({settings}) => settings)],
    changes: [
      ...replaced.map(({change}) => change),
      ...certificates
        .filter((path) => getAt(given, path) !== undefined)
        .map((path) => changeOf('dropped', path, 'belongs in the same Secret as its private key.')),
      ...removeMirrorTokens(values),
    ],
  };
}

/** What the new values read instead of a secret. */
function replaceSecret(
  path: Path,
  known: readonly SettingEntries[],
  names: SecretNames,
): {settings: SettingEntries[]; change: Change} {
  const isClientKey = path.at(-1) === 'clientKey';
  const find = (setting: unknown): unknown => known.find((each) => each.setting === setting)?.value;
  const setting = (isClientKey ? clientCertSecret : tokenSecret) as Setting;
  const existing = find(setting);
  const name = existing ?? (isClientKey ? names.clientCertificate : names.token);
  const settings = existing === undefined ? [{setting, value: name, leaves: [], before: []}] : [];
  if (settings.length === 0 && !isClientKey) {
    const ignored = `had no effect, because the token is read from the Secret ${name}.`;
    return {settings, change: changeOf('dropped', path, ignored)};
  }
  const what = isClientKey ? 'a private key' : 'the token';
  const message = `contains ${what} in plain text. The new values read it from the Secret ${name} instead.`;
  const key = find(tokenSecretKey) ?? tokenSecretKey.fallback?.(() => undefined);
  const remedy = isClientKey
    ? `Store certificate and key in the Secret ${name} of type kubernetes.io/tls`
    : `Store the token in the Secret ${name} under the key ${key}, or set SCALR_AGENT_TOKEN for scalr-agent install`;
  return {settings, change: changeOf('dropped', path, message, remedy)};
}

const MIRRORS = ['agent', 'providerNetworkMirrors'];

/** Changes the values: the charts have no Secret for tokens of mirrors. */
function removeMirrorTokens(values: Values): Change[] {
  const mirrors = getAt(values, MIRRORS);
  const isPrivate =
    Array.isArray(mirrors) && mirrors.some((each) => isMap(each) && each['token'] !== undefined);
  if (!isPrivate) return [];
  setAt(
    values,
    MIRRORS,
    mirrors.map((each) => (isMap(each) ? withoutLeaves(each, ([key]) => key === 'token') : each)),
  );
  return [
    changeOf(
      'dropped',
      MIRRORS,
      'the tokens are removed, because values.yaml stores plain text.',
      'Use mirrors that require no token, or add the tokens with helm --set-file',
    ),
  ];
}
