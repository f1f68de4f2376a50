import {knowsKey} from '../charts/releases/keys.ts';
import {isUnknown, type Target} from '../charts/releases/target.ts';
import {rowsWithKeys} from '../charts/support.ts';
import type {DesiredRelease, DesiredSecret} from '../cluster/release/desired-release.ts';
import type {ReleaseName} from '../ground/command-line.ts';
import {failed} from '../ground/errors.ts';
import {remedyTexts} from '../ground/finding.ts';
import {Secret} from '../ground/secret.ts';
import {
  at,
  copyOf,
  getAt,
  mergeValues,
  type Path,
  setAt,
  spellPath,
  textAt,
  type Values,
  withoutLeaves,
} from '../ground/tree.ts';
import {tokenSecret, tokenSecretKey} from '../settings/agent.ts';
import {cacheClaim} from '../settings/cache.ts';
import type {SecretNames} from '../settings/release.ts';
import {clientCertSecret} from '../settings/tls.ts';
import type {Change} from '../values/migrate/change.ts';
import {migrateValues} from '../values/migrate/migrate.ts';
import {codeAndKey} from '../values/reading/finding.ts';
import {effectiveValues} from '../values/reading/read-values.ts';
import {errorsIn} from '../values/validate/validate.ts';

export interface Migration {
  desired: DesiredRelease;
  changes: readonly Change[];
  /** Keys that an unknown version no longer has, without those that the user's files set to null. */
  gone: readonly Change[];
}

/** Values in files of the user, merged over the migrated ones. */
export interface MigrateOptions {
  source: string | undefined;
  /** With --verify. */
  keyring?: string | undefined;
  overlay: Values;
  /** For the secrets that the installed values contain as plain text. */
  secretNames: SecretNames;
}

/** What an installed release becomes in another version or chart. Pure. */
export function migratedRelease(
  name: ReleaseName,
  given: Values,
  {from, to}: {from: Target; to: Target},
  {source, keyring, overlay, secretNames}: MigrateOptions,
): Migration {
  const {
    values: migrated,
    settings,
    changes,
  } = migrateValues(given, from, to, {names: secretNames});
  const values = withMirrorTokens(migrated, given, to);
  const isNew = isUnknown(to, true);
  const isAccepted = (path: Path): boolean =>
    isNew && getAt(overlay, path) === null && !knowsKey(to, path);
  const known = withoutLeaves(overlay, isAccepted);
  const merged = mergeValues(values, known);
  refuseErrorsOf(known, values, merged, to);
  const isGone = ({kind, subject: {path}}: Change): boolean =>
    kind === 'dropped' &&
    path !== '' &&
    knowsKey(from, at(path)) &&
    !knowsKey(to, at(path)) &&
    !isAccepted(at(path));
  return {
    desired: withValues(
      {
        name,
        chart: {...to, source, keyring},
        explicitPaths: [],
        secrets: inlineSecrets(given, settings),
      },
      merged,
      to,
    ),
    gone: from.chart === to.chart && isNew ? changes.filter(isGone) : [],
    // The advice contains them with facts of the cluster.
    changes: changes
      .filter(
        ({kind, subject}) =>
          kind !== 'requirement' &&
          !(subject.path === spellPath(MIRRORS) && getAt(values, MIRRORS) !== undefined),
      )
      // The upgrade itself creates the Secret of what is in plain text.
      .map((each) => (INLINE.includes(each.subject.path) ? {...each, remedies: []} : each)),
  };
}

/** Errors that the installed values have too do not block an upgrade. @throws ExpectedError for those of the user's files */
function refuseErrorsOf(overlay: Values, values: Values, merged: Values, to: Target): void {
  if (Object.keys(overlay).length === 0) return;
  const known = new Set(errorsIn(values, to).map(codeAndKey));
  const errors = errorsIn(merged, to).filter((each) => !known.has(codeAndKey(each)));
  if (errors.length === 0) return;
  throw failed(
    'INVALID_SETTING',
    errors.map(({subject, message}) => `--values: ${subject.path}: ${message}`).join('\n'),
    remedyTexts(errors),
  );
}

const MIRRORS = at('agent.providerNetworkMirrors');

/** Secrets in plain text. */
const INLINE: readonly string[] = ['agent.token', 'agent.tls.clientKey', 'global.tls.clientKey'];

/** The charts read tokens of provider mirrors from values only, and runs fail without them. */
function withMirrorTokens(values: Values, given: Values, to: Target): Values {
  const mirrors = getAt(given, MIRRORS);
  if (mirrors === undefined || getAt(effectiveValues({}, to), MIRRORS) === undefined) return values;
  const result = copyOf(values);
  setAt(result, MIRRORS, mirrors);
  return result;
}

export const withValues = (
  desired: Omit<DesiredRelease, 'values' | 'effective' | 'yaml'>,
  values: Values,
  target: Target,
): DesiredRelease => ({
  ...desired,
  values,
  effective: effectiveValues(values, target),
  // JSON is YAML, and keeps every value as Helm has it.
  yaml: `${JSON.stringify(values)}\n`,
});

/** Secrets in plain text, which the migrated values read from Kubernetes Secrets. */
function inlineSecrets(given: Values, settings: ReadonlyMap<string, unknown>): DesiredSecret[] {
  const secret = (
    setting: typeof tokenSecret | typeof clientCertSecret,
    content: Pick<DesiredSecret, 'type' | 'data'>,
  ): DesiredSecret[] => {
    const name = settings.get(setting.id);
    const howToGive = {text: 'Create the Secret, or run the upgrade again'};
    return typeof name === 'string' ? [{name, ...content, howToGive, setting}] : [];
  };
  const token = getAt(given, at('agent.token')) ?? '';
  const key = String(settings.get(tokenSecretKey.id) ?? 'token');
  const tls = ['agent.tls', 'global.tls'].find((each) => textAt(given, `${each}.clientKey`) !== '');
  const [certificate, privateKey] = ['clientCert', 'clientKey'].map(
    (each) => new Secret(textAt(given, `${tls}.${each}`)),
  );
  return [
    ...(token === ''
      ? []
      : secret(tokenSecret, {type: 'Opaque', data: {[key]: new Secret(String(token))}})),
    ...(tls === undefined
      ? []
      : secret(clientCertSecret, {
          type: 'kubernetes.io/tls',
          data: {'tls.crt': certificate, 'tls.key': privateKey},
        })),
  ];
}

/** Values that mount the PVCs of the installed version instead of new ones. */
export function withOldClaims(values: Values, target: Target, lost: readonly string[]): Values {
  const effective = effectiveValues(values, target);
  const result = copyOf(values);
  const [row] = rowsWithKeys(target, cacheClaim);
  for (const claim of lost) {
    const path = claim.endsWith('-data')
      ? at('persistence.data.persistentVolumeClaim.claimName')
      : row?.paths[0];
    const isPersistent =
      path !== undefined && getAt(effective, [...path.slice(0, -2), 'enabled']) === true;
    if (isPersistent && (getAt(effective, path) ?? '') === '') setAt(result, path, claim);
  }
  return result;
}
