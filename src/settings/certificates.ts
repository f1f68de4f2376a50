import {createPrivateKey, X509Certificate} from 'node:crypto';
import {InvalidValue, type Kind} from './define.ts';
import {Secret} from './secret.ts';

/** A bundle of CA certificates, from PEM (any number, comments allowed) or DER. The value is PEM, each certificate once. */
export const caBundle = (): Kind<string> => ({
  jsonSchema: {type: 'string', minLength: 1},
  hint: 'PATH',
  isFile: true,
  parse(raw, {now}) {
    const certificates = readCertificates(raw as Buffer);
    for (const [index, certificate] of certificates.entries()) refuseUnusable(certificate, index + 1, now);
    const once = new Map(certificates.map((certificate) => [certificate.fingerprint256, certificate]));
    return [...once.values()].map(String).join('');
  },
  format: () => [],
});

/** A client certificate, PEM, the leaf first. */
export const clientCertificate = (): Kind<Secret> => ({
  jsonSchema: {type: 'string', minLength: 1},
  hint: 'PATH',
  isFile: true,
  isSecret: true,
  parse(raw, {now}) {
    const certificates = readCertificates(raw as Buffer);
    refuseOutdated(certificates[0] as X509Certificate, 1, now);
    return new Secret(certificates.map(String).join(''));
  },
  format: () => [],
});

/** A private key, PEM, without a passphrase. */
export const privateKey = (): Kind<Secret> => ({
  jsonSchema: {type: 'string', minLength: 1},
  hint: 'PATH',
  isFile: true,
  isSecret: true,
  parse(raw) {
    const pem = String(raw);
    if (/ENCRYPTED/.test(pem))
      throw new InvalidValue(
        'the key has a passphrase, which nobody could type in a pod',
        'Remove it: openssl pkey -in KEY -out KEY.plain',
      );
    try {
      createPrivateKey(pem);
    } catch {
      throw new InvalidValue('holds no private key in PEM form', 'Convert it: openssl pkey -in KEY -out KEY.pem');
    }
    return new Secret(pem);
  },
  format: () => [],
});

/** True when the key belongs to the certificate. */
export function matches(certificate: Secret, key: Secret): boolean {
  return new X509Certificate(certificate.reveal()).checkPrivateKey(createPrivateKey(key.reveal()));
}

interface Block {
  label: string;
  pem: string;
}

/** The blocks between BEGIN and END lines; whatever stands around them is comment. */
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
    throw new InvalidValue('holds a private key', 'Take a file with certificates only; a CA bundle is public and ends up in values.yaml');
  }
  if (isCutOff) throw new InvalidValue('is cut off: the END line of its last block is missing', 'Copy the file again');
  const certificates = blocks.filter(({label}) => label === 'CERTIFICATE').map(({pem}, index) => decode(pem, index + 1));
  if (certificates.length > 0) return certificates;
  if (blocks.length > 0) throw new InvalidValue(`holds ${blocks[0]?.label} and no certificate`, 'Export the CA certificate in PEM form');
  if (text.trim() === '') throw new InvalidValue('is empty', 'Export the CA certificate in PEM form');
  try {
    return [new X509Certificate(content)];
  } catch {
    throw new InvalidValue('is neither PEM nor DER', 'Export the CA certificate in PEM form (it begins with -----BEGIN CERTIFICATE-----)');
  }
}

function decode(pem: string, position: number): X509Certificate {
  try {
    return new X509Certificate(pem);
  } catch {
    throw new InvalidValue(`certificate ${position} is damaged`, 'Copy the file again, line ends included');
  }
}

function refuseUnusable(certificate: X509Certificate, position: number, now: Date): void {
  refuseOutdated(certificate, position, now);
  const isSelfSigned = certificate.issuer === certificate.subject;
  if (!certificate.ca && !isSelfSigned) {
    throw new InvalidValue(
      `certificate ${position} (${nameOf(certificate)}) belongs to a server, not to a CA`,
      `Take the certificate of its issuer: ${oneLine(certificate.issuer)}`,
    );
  }
}

function refuseOutdated(certificate: X509Certificate, position: number, now: Date): void {
  const name = `certificate ${position} (${nameOf(certificate)})`;
  if (new Date(certificate.validTo) < now)
    throw new InvalidValue(`${name} expired on ${certificate.validTo}`, 'Remove it or take its successor');
  if (new Date(certificate.validFrom) > now)
    throw new InvalidValue(`${name} is valid only from ${certificate.validFrom}`, 'Check the clock of this machine');
}

const oneLine = (name: string): string => name.replaceAll('\n', ', ');
const nameOf = ({subject}: X509Certificate): string => oneLine(subject ?? 'no subject');
