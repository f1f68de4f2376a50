import type {X509Certificate} from 'node:crypto';
import {decodedBase64, Secret} from '../../ground/secret.ts';
import {count, few} from '../../ground/text.ts';
import {InvalidValue, type Kind} from './kind.ts';

/** Loaded only for a file; every command declares these settings. */
const crypto = () => process.getBuiltinModule('node:crypto');

/** A file whose content no flag can repeat. */
const file = {
  jsonSchema: {type: 'string', minLength: 1},
  hint: 'PATH',
  isFile: true,
  format: () => [],
};

/** A bundle of CA certificates, from PEM (any number, comments allowed) or DER. The value is PEM, each certificate once. */
export const caBundleKind = (): Kind<string> => ({
  ...file,
  parse(raw, {now, note}) {
    const content = raw as Buffer;
    const decoded = decodedBase64(content.toString('latin1'));
    if (decoded !== undefined) note?.('is base64-encoded, and was decoded');
    const certificates = readCertificates(
      decoded === undefined ? content : Buffer.from(decoded, 'latin1'),
    );
    const expired = certificates.filter((each) => isExpired(each, now));
    // OpenSSL ignores what has expired, as long as something else is left.
    const ignored = expired.length < certificates.length ? expired : [];
    if (ignored.length > 0)
      note?.(
        `contains ${count(ignored.length, 'expired certificate')}, ignored: ${few(ignored.map(nameOf), 3)}`,
      );
    const once = new Map<string, X509Certificate>();
    for (const [index, certificate] of certificates.entries()) {
      if (ignored.includes(certificate)) continue;
      refuseUnusable(certificate, index + 1, now);
      once.set(certificate.fingerprint256, certificate);
    }
    return [...once.values()].map(String).join('');
  },
  shown: (pem) => count(certificatesIn(pem), 'certificate'),
});

export const certificatesIn = (pem: string): number =>
  pem.split('-----BEGIN CERTIFICATE-----').length - 1;

/** A client certificate, PEM, the leaf first. */
export const clientCertificate = (): Kind<Secret> => ({
  ...file,
  isSecret: true,
  parse(raw, {now}) {
    const certificates = readCertificates(raw as Buffer);
    refuseOutdated(certificates[0] as X509Certificate, 1, now);
    return new Secret(certificates.map(String).join(''));
  },
});

/** A private key, PEM, without a passphrase. */
export const privateKey = (): Kind<Secret> => ({
  ...file,
  isSecret: true,
  parse(raw) {
    const pem = String(raw);
    if (/ENCRYPTED/.test(pem))
      throw new InvalidValue(
        'The private key is encrypted with a passphrase, which is not supported',
        'Remove the passphrase: openssl pkey -in KEY -out KEY.plain',
      );
    try {
      crypto().createPrivateKey(pem);
    } catch {
      throw new InvalidValue(
        'No PEM private key found',
        'Convert the key: openssl pkey -in KEY -out KEY.pem',
      );
    }
    return new Secret(pem);
  },
});

export function matches(certificate: Secret, key: Secret): boolean {
  return new (crypto().X509Certificate)(certificate.reveal()).checkPrivateKey(
    crypto().createPrivateKey(key.reveal()),
  );
}

interface Block {
  label: string;
  pem: string;
}

/** The blocks between BEGIN and END lines; all other text is ignored. */
function blocksIn(text: string): {blocks: Block[]; isCutOff: boolean} {
  const blocks: Block[] = [];
  let open: {label: string; lines: string[]} | undefined;
  for (const line of text.split(/\r?\n/)) {
    const [, edge, label = ''] = /^\s*-----(BEGIN|END) ([A-Z0-9 ]+)-----\s*$/.exec(line) ?? [];
    if (edge === 'BEGIN') open = {label, lines: []};
    open?.lines.push(line);
    if (edge !== 'END' || open?.label !== label) continue;
    blocks.push({label, pem: open.lines.join('\n')});
    open = undefined;
  }
  return {blocks, isCutOff: open !== undefined};
}

function readCertificates(content: Buffer): X509Certificate[] {
  const text = content.toString('latin1');
  const {blocks, isCutOff} = blocksIn(text);
  if (blocks.some(({label}) => label.endsWith('PRIVATE KEY'))) {
    throw new InvalidValue(
      'The file contains a private key',
      'Use a file with certificates only; the CA bundle is public and is written to values.yaml',
    );
  }
  if (isCutOff)
    throw new InvalidValue(
      'The PEM data is truncated: the END line of the last block is missing',
      'Copy the file again',
    );
  const certificates = blocks
    .filter(({label}) => label === 'CERTIFICATE')
    .map(({pem}, index) => decode(pem, index + 1));
  if (certificates.length > 0) return certificates;
  if (blocks.length > 0)
    throw new InvalidValue(
      `The PEM data contains ${blocks[0]?.label} but no certificate`,
      'Export the certificate in PEM format',
    );
  if (text.trim() === '')
    throw new InvalidValue('The file is empty', 'Export the certificate in PEM format');
  try {
    return [new (crypto().X509Certificate)(content)];
  } catch {
    throw new InvalidValue(
      'The file is neither PEM nor DER',
      'Export the certificate in PEM format (-----BEGIN CERTIFICATE-----)',
    );
  }
}

function decode(pem: string, position: number): X509Certificate {
  try {
    return new (crypto().X509Certificate)(pem);
  } catch {
    throw new InvalidValue(
      `Certificate ${position} cannot be parsed`,
      'Copy the file again, including line breaks',
    );
  }
}

const isExpired = ({validTo}: X509Certificate, now: Date): boolean => new Date(validTo) < now;

function refuseUnusable(certificate: X509Certificate, position: number, now: Date): void {
  refuseOutdated(certificate, position, now);
  const isSelfSigned = certificate.issuer === certificate.subject;
  if (!certificate.ca && !isSelfSigned) {
    throw new InvalidValue(
      `Certificate ${position} (${nameOf(certificate)}) is a server certificate, not a CA certificate`,
      `Use the certificate of its issuer: ${oneLine(certificate.issuer)}`,
    );
  }
}

function refuseOutdated(certificate: X509Certificate, position: number, now: Date): void {
  const name = `Certificate ${position} (${nameOf(certificate)})`;
  if (isExpired(certificate, now))
    throw new InvalidValue(
      `${name} expired on ${certificate.validTo}`,
      'Remove the certificate, or use a renewed one',
    );
  if (new Date(certificate.validFrom) > now)
    throw new InvalidValue(
      `${name} is not valid before ${certificate.validFrom}`,
      'Check the clock of this machine',
    );
}

/** Why OpenSSL cannot load certificates from PEM; undefined if it can. */
export function unreadablePem(pem: string): InvalidValue | undefined {
  try {
    readCertificates(Buffer.from(pem));
    return undefined;
  } catch (error) {
    if (error instanceof InvalidValue) return error;
    throw error;
  }
}

/** The names of expired certificates in PEM; what cannot be read has none. */
export const expiredIn = (pem: string, now: Date): string[] =>
  blocksIn(pem).blocks.flatMap((block) => {
    try {
      const certificate = new (crypto().X509Certificate)(block.pem);
      return isExpired(certificate, now) ? [nameOf(certificate)] : [];
    } catch {
      return [];
    }
  });

const oneLine = (name: string): string => name.replaceAll('\n', ', ');
const nameOf = ({subject}: X509Certificate): string => oneLine(subject ?? 'no subject');
