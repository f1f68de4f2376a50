import type {ValuesRule} from '../define.ts';
import {at} from '../tree.ts';
import {textAt} from './reading.ts';
import {keyOfSecret, printedBare} from './texts.ts';

/** R25: certificates here go into a Secret as they stand; base64 would be encoded twice. */
const wantsPem = (path: string, range: string): ValuesRule => ({
  id: 'R25',
  code: 'NOT_PEM',
  in: range,
  severity: 'error',
  test: (values) => {
    const text = textAt(values, path);
    return text === '' || text.includes('-----BEGIN ')
      ? []
      : [
          {
            path: at(path),
            message: 'This takes the text of a PEM file (-----BEGIN …), neither base64 nor a path.',
            suggestion: `${path}: |`,
          },
        ];
  },
});

/** Two ways to give the same, of which one wins in silence. */
export const wins = (id: string, range: string, winner: string, loser: string): ValuesRule => ({
  id,
  code: 'OTHER_KEY_WINS',
  in: range,
  severity: 'warning',
  test: (values) =>
    textAt(values, winner) !== '' && textAt(values, loser) !== ''
      ? [{path: at(loser), message: `${winner} is set and wins; this is dropped without a word.`}]
      : [],
});

/** R27: without the other half the templates leave mutual TLS off in silence. */
const bothHalves = (certificate: string, key: string, instead: string, range: string): ValuesRule => ({
  id: 'R27',
  code: 'HALF_CLIENT_CERTIFICATE',
  in: range,
  severity: 'error',
  test: (values) => {
    const [one, other] = [textAt(values, certificate), textAt(values, key)];
    if (textAt(values, instead) !== '' || (one === '') === (other === '')) return [];
    const [given, missing] = one === '' ? [key, certificate] : [certificate, key];
    return [
      {
        path: at(given),
        message: `${missing} is missing, so the templates leave client certificates off.`,
        suggestion: `Set ${missing} too, or ${instead}`,
      },
    ];
  },
});

/** What holds below `global.tls` and `agent.tls` alike. */
export const certificateRules = (tls: string, bundles: string, mutualTls: string): ValuesRule[] => [
  wantsPem(`${tls}.caBundle`, bundles),
  wins('R25', bundles, `${tls}.caBundleSecret.name`, `${tls}.caBundle`),
  printedBare(bundles, `${tls}.caBundleSecret.name`, `${tls}.caBundleSecret.key`),
  keyOfSecret(bundles, [`${tls}.caBundleSecret.name`, `${tls}.caBundle`], `${tls}.caBundleSecret.key`),
  bothHalves(`${tls}.clientCert`, `${tls}.clientKey`, `${tls}.clientCertSecret.name`, mutualTls),
  wantsPem(`${tls}.clientCert`, mutualTls),
  wins('R27', mutualTls, `${tls}.clientCertSecret.name`, `${tls}.clientCert`),
  printedBare(mutualTls, ...['name', 'certKey', 'keyKey'].map((key) => `${tls}.clientCertSecret.${key}`)),
  keyOfSecret(
    mutualTls,
    [`${tls}.clientCertSecret.name`, `${tls}.clientCert`],
    `${tls}.clientCertSecret.certKey`,
    `${tls}.clientCertSecret.keyKey`,
  ),
];
