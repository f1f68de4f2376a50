import type {Random} from './random.ts';

type Make = (random: Random) => string;

const DASHES = '-----';
const kind = (name: string): string => `${name}${name ? ' ' : ''}PRIVATE`;

function pem(label: string, start: string, body: number, width = 64): Make {
  return (random) => {
    const rest = random.signs('base64', body - start.length - 1);
    const lines = `${start}${rest}=`.match(new RegExp(`.{1,${width}}`, 'g')) ?? [];
    return [`${DASHES}BEGIN ${label}${DASHES}`, ...lines, `${DASHES}END ${label}${DASHES}`].join(
      '\n',
    );
  };
}

/** Keys of several lines; every line of the body is a secret. */
export const KEYS: Readonly<Record<string, Make>> = {
  rsaKey: pem(`${kind('RSA')} KEY`, 'MIIEpAIBAAKCAQEA', 1592),
  pkcs8Key: pem(`${kind('')} KEY`, 'MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQ', 1624),
  ecKey: pem(`${kind('EC')} KEY`, 'MHcCAQEEI', 164),
  ecPkcs8Key: pem(`${kind('')} KEY`, 'MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg', 184),
  ed25519Key: pem(`${kind('')} KEY`, 'MC4CAQAwBQYDK2VwBCIEI', 64),
  encryptedKey: pem(
    `${kind('ENCRYPTED')} KEY`,
    'MIIFHDBOBgkqhkiG9w0BBQ0wQTApBgkqhkiG9w0BBQwwHAQI',
    1700,
  ),
  opensshKey: pem(
    `${kind('OPENSSH')} KEY`,
    'b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gtZW',
    400,
    70,
  ),
  opensshRsaKey: pem(
    `${kind('OPENSSH')} KEY`,
    'b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAABlwAAAAdzc2gtcn',
    2600,
    70,
  ),
  dsaKey: pem(`${kind('DSA')} KEY`, 'MIIBuwIBAAKBgQD', 616),
  pgpKey: (random) =>
    pem(
      `PGP ${kind('')} KEY BLOCK`,
      '',
      1600,
    )(random).replace(`${DASHES}\n`, `${DASHES}\nVersion: GnuPG v2\n\n`),
  puttyKey: (random) =>
    [
      'PuTTY-User-Key-File-3: ssh-ed25519',
      'Encryption: none',
      'Comment: deploy@ci',
      'Public-Lines: 1',
      'AAAAC3NzaC1lZDI1NTE5',
      `Private-Lines: 1`,
      random.bytes(33).toString('base64'),
    ].join('\n'),
};
