import type {Target} from '../../charts/define.ts';
import {closedSchema, nodeAt, schemaOf} from '../../charts/schema.ts';
import {copyOf, getAt, isMap, leafPaths, type Path, setAt, spellPath, type Values, withoutLeaves} from '../../ground/tree.ts';
import {tokenSecret, tokenSecretKey} from '../../settings/agent.ts';
import type {Setting} from '../../settings/define.ts';
import type {SecretNames} from '../../settings/release.ts';
import {clientCertSecret} from '../../settings/tls.ts';
import {type Change, changeOf} from './change.ts';
import {explicitSettings, type SettingEntries} from './read-explicit.ts';

/** Replaces secrets by the names of Kubernetes Secrets that the user must create. */
export function extractSecrets(
  given: Values,
  from: Target,
  names: SecretNames,
): {values: Values; settings: SettingEntries[]; changes: Change[]} {
  const root = closedSchema(schemaOf(from), from.version);
  const isSecret = (path: Path): boolean => nodeAt(root, path)?.['x-secret'] === true && ![null, ''].includes(getAt(given, path) as string);
  const secrets = leafPaths(given).filter(isSecret);
  const certificates = secrets.filter((path) => path.at(-1) === 'clientKey').map((path) => [...path.slice(0, -1), 'clientCert']);
  const gone = new Set([...secrets, ...certificates].map(spellPath));
  const values = copyOf(withoutLeaves(given, (path) => gone.has(spellPath(path))));
  const known = explicitSettings(values, from);
  const replaced = secrets.map((path) =>
    path.at(-1) === 'clientKey' ? replaceClientKey(path, known, names) : replaceToken(path, known, names),
  );
  return {
    values,
    settings: [...known, ...replaced.flatMap(({settings}) => settings)],
    changes: [
      ...replaced.map(({change}) => change),
      ...certificates
        .filter((path) => getAt(given, path) !== undefined)
        .map((path) => changeOf('dropped', path, `${spellPath(path)} belongs into the same Secret as its private key.`)),
      ...removeMirrorTokens(values),
    ],
  };
}

interface Replaced {
  settings: SettingEntries[];
  change: Change;
}

const findValue = (setting: Setting, known: readonly SettingEntries[]): unknown => known.find((each) => each.setting === setting)?.value;

function replaceToken(path: Path, known: readonly SettingEntries[], {token}: SecretNames): Replaced {
  const existing = findValue(tokenSecret as Setting, known);
  const name = existing ?? token;
  const key = findValue(tokenSecretKey as Setting, known) ?? tokenSecretKey.fallback?.(() => undefined);
  const message =
    existing === undefined
      ? `${spellPath(path)} contains the token in plain text. The new values read it from the Secret ${name} instead.`
      : `${spellPath(path)} had no effect, because the token is read from the Secret ${name}.`;
  const remedy = `Store the token in the Secret ${name} under the key ${key}, or set SCALR_AGENT_TOKEN for scalr-agent install`;
  return {
    settings: existing === undefined ? [{setting: tokenSecret as Setting, value: name, leaves: [], before: []}] : [],
    change: existing === undefined ? changeOf('dropped', path, message, remedy) : changeOf('dropped', path, message),
  };
}

function replaceClientKey(path: Path, known: readonly SettingEntries[], {clientCertificate}: SecretNames): Replaced {
  const existing = findValue(clientCertSecret as Setting, known);
  const name = existing ?? clientCertificate;
  return {
    settings: existing === undefined ? [{setting: clientCertSecret as Setting, value: name, leaves: [], before: []}] : [],
    change: changeOf(
      'dropped',
      path,
      `${spellPath(path)} contains a private key in plain text. The new values read it from the Secret ${name} instead.`,
      `Store certificate and key in the Secret ${name} of type kubernetes.io/tls`,
    ),
  };
}

const MIRRORS = ['agent', 'providerNetworkMirrors'];

/** Changes the values: the charts have no Secret for tokens of mirrors. */
function removeMirrorTokens(values: Values): Change[] {
  const mirrors = getAt(values, MIRRORS);
  const isPrivate = Array.isArray(mirrors) && mirrors.some((each) => isMap(each) && each['token'] !== undefined);
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
      'The tokens of provider mirrors are removed, because values.yaml stores plain text.',
      'Use mirrors that require no token, or add the tokens with helm --set-file',
    ),
  ];
}
