import type {ValuesRule} from '../define.ts';
import {
  bothHalves,
  mountsOfVolumes,
  needsSwitch,
  separateDirectories,
  tokenInOnePiece,
  urlOfAccount,
  wantsPem,
  wins,
} from '../shared-values-rules.ts';

const MUTUAL_TLS = '0.5.73 - 0.5.74 || >=0.6.1';
const TLS = 'agent.tls';

/** Rules between keys of agent-local. */
export const valuesRules: readonly ValuesRule[] = [
  tokenInOnePiece,
  urlOfAccount,
  separateDirectories,
  wantsPem(`${TLS}.caBundle`, '>=0.6.1'),
  wins('R25', '>=0.6.1', `${TLS}.caBundleSecret.name`, `${TLS}.caBundle`),
  bothHalves(`${TLS}.clientCert`, `${TLS}.clientKey`, `${TLS}.clientCertSecret.name`, MUTUAL_TLS),
  wantsPem(`${TLS}.clientCert`, MUTUAL_TLS),
  wins('R27', MUTUAL_TLS, `${TLS}.clientCertSecret.name`, `${TLS}.clientCert`),
  mountsOfVolumes('extraVolumes', ['extraVolumeMounts'], ['data-dir', 'cache-dir', 'client-cert', 'ca-bundle'], '>=0.6.1'),
  needsSwitch('T19', '*', 'persistence.persistentVolumeClaim.claimName', 'persistence.enabled'),
  ...['data', 'cache'].map((name) =>
    needsSwitch('T15', '0.5.74 || >=0.6.1', `persistence.${name}.persistentVolumeClaim.claimName`, `persistence.${name}.enabled`),
  ),
];
