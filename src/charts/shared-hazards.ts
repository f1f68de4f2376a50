import {textAt} from '../ground/tree.ts';
import type {UpgradeHazard} from './define.ts';

/** `--reuse-values` passes the defaults of the old version, which lack the keys of the new one. */
export const reuseValues = (from: string, to: string): UpgradeHazard => ({
  code: 'REUSE_VALUES',
  level: 'info',
  from,
  to,
  reason: 'The flag --reuse-values of Helm fails or leaves new keys empty, because it passes the defaults of the old version',
  remedy: 'Pass all values, or use --reset-then-reuse-values',
  isHandled: true,
});

/** Some versions were released from an older branch, without client certificates. */
export const mutualTlsVanishes = (key: string, from: string, to: string): UpgradeHazard[] => [
  {
    code: 'CLIENT_CERTIFICATE_IGNORED',
    level: 'blocking',
    from,
    to,
    when: ({values}) => textAt(values, `${key}.clientCertSecret.name`) !== '' || textAt(values, `${key}.clientCert`) !== '',
    whose: 'client certificates',
    reason: 'This version was released from an older branch, and ignores client certificates',
    remedy: 'Use 0.6.1 or later',
  },
];
