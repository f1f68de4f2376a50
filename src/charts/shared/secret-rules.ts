import {few} from '../../ground/text.ts';
import {at, getAt, textAt, type Values} from '../../ground/tree.ts';
import {certificatesIn, expiredIn, unreadablePem} from '../../settings/kinds/certificates.ts';
import {InvalidValue} from '../../settings/kinds/kind.ts';
import {type Keys, keyError, keyWarning} from './key-rule.ts';
import {overriddenKey, unquotedInTemplate} from './key-rules.ts';
import type {ValuesRule} from './rule.ts';

/** Certificates are copied into a Secret unchanged; base64 would be encoded twice. */
const wantsPem = (keys: Keys): ValuesRule =>
  keyError('NOT_PEM', {
    ...keys,
    isWrong: (values, key) => textAt(values, key) !== '' && pemProblem(values, key) !== undefined,
    message: (values, key) => pemProblem(values, key)?.message ?? '',
    suggestion: (values, key) => pemProblem(values, key)?.suggestion?.text ?? '',
  });

/** Why OpenSSL cannot load the certificates, and the next step. */
function pemProblem(values: Values, key: string): InvalidValue | undefined {
  const text = textAt(values, key);
  if (!text.includes('-----BEGIN '))
    return new InvalidValue(
      'The value must be the content of a PEM file (-----BEGIN …), not base64 or a path.',
      'Write the content of the PEM file below the key',
    );
  if (/-----BEGIN [A-Z ]+-----[^\S\n]+\S/.test(text))
    return new InvalidValue(
      'The lines of the PEM file are joined, as ">" does, so that no certificate is found in it.',
      `${key}: |`,
    );
  return isWithKey(values, key) ? undefined : unreadablePem(text);
}

const isWithKey = (values: Values, key: string): boolean =>
  textAt(values, key).includes('PRIVATE KEY-----');

/** Every pod gets the bundle. */
const noKeyInBundle = (keys: Keys): ValuesRule =>
  keyError('KEY_IN_CA_BUNDLE', {
    ...keys,
    isWrong: isWithKey,
    message: 'The CA bundle contains a private key, which every pod would get.',
    suggestion: 'Remove the key; a bundle holds only certificates',
  });

/** OpenSSL ignores expired certificates, as long as another one of the bundle matches. */
const expiredCertificates = (keys: Keys, areAll: boolean): ValuesRule => {
  const expired = (values: Values, key: string): string[] =>
    expiredIn(textAt(values, key), new Date());
  const what = areAll
    ? 'All certificates of the CA bundle have expired'
    : 'The CA bundle contains expired certificates, which are ignored';
  return (areAll ? keyError : keyWarning)('EXPIRED_CERTIFICATE', {
    ...keys,
    isWrong(values, key) {
      const {length} = expired(values, key);
      return length > 0 && (length === certificatesIn(textAt(values, key))) === areAll;
    },
    message: (values, key) => `${what}: ${few(expired(values, key), 3)}.`,
    suggestion: 'Remove them, or use renewed ones',
  });
};

/** Without both certificate and key, mutual TLS is silently disabled. */
const bothHalves = (tls: string, range: string): ValuesRule => {
  const certificate = `${tls}.clientCert`;
  const key = `${tls}.clientKey`;
  const instead = `${tls}.clientCertSecret.name`;
  const missing = (given: string): string => (given === key ? certificate : key);
  return keyError('INCOMPLETE_CLIENT_CERTIFICATE', {
    in: range,
    keys: [certificate, key],
    isWrong: (values, given) =>
      textAt(values, given) !== '' &&
      textAt(values, missing(given)) === '' &&
      textAt(values, instead) === '',
    message: (_, given) =>
      `${missing(given)} is missing, so the chart does not configure client certificates.`,
    suggestion: (_, given) => `Set ${missing(given)} or ${instead}`,
  });
};

/** Rules for `global.tls` and `agent.tls`, in the versions that have CA bundles and client certificates. */
export const certificateRules = ({
  tls,
  bundles,
  mutualTls,
}: {
  tls: string;
  bundles: string;
  mutualTls: string;
}): ValuesRule[] => [
  wantsPem({in: bundles, keys: [`${tls}.caBundle`]}),
  noKeyInBundle({in: bundles, keys: [`${tls}.caBundle`]}),
  expiredCertificates({in: bundles, keys: [`${tls}.caBundle`]}, true),
  expiredCertificates({in: bundles, keys: [`${tls}.caBundle`]}, false),
  overriddenKey({in: bundles, winner: `${tls}.caBundleSecret.name`, loser: `${tls}.caBundle`}),
  unquotedInTemplate({
    in: bundles,
    keys: [`${tls}.caBundleSecret.name`, `${tls}.caBundleSecret.key`],
  }),
  keyOfSecret({
    in: bundles,
    secrets: [`${tls}.caBundleSecret.name`, `${tls}.caBundle`],
    keys: [`${tls}.caBundleSecret.key`],
  }),
  bothHalves(tls, mutualTls),
  wantsPem({in: mutualTls, keys: [`${tls}.clientCert`]}),
  overriddenKey({
    in: mutualTls,
    winner: `${tls}.clientCertSecret.name`,
    loser: `${tls}.clientCert`,
  }),
  unquotedInTemplate({
    in: mutualTls,
    keys: ['name', 'certKey', 'keyKey'].map((key) => `${tls}.clientCertSecret.${key}`),
  }),
  keyOfSecret({
    in: mutualTls,
    secrets: [`${tls}.clientCertSecret.name`, `${tls}.clientCert`],
    keys: [`${tls}.clientCertSecret.certKey`, `${tls}.clientCertSecret.keyKey`],
  }),
];

/** Keys of a Secret, used only if one of `secrets` is set. */
export function keyOfSecret({secrets, ...keys}: Keys & {secrets: readonly string[]}): ValuesRule {
  return keyError('SECRET_KEY_REQUIRED', {
    ...keys,
    isWrong: (values, key) =>
      secrets.some((secret) => textAt(values, secret) !== '') && getAt(values, at(key)) === '',
    message: 'The key of the Secret must not be empty.',
    suggestion: 'Remove it to use the chart default',
  });
}
