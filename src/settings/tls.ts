import {createPrivateKey, X509Certificate} from 'node:crypto';
import {kubectlCommand} from '../command-line.ts';
import {defineSetting, type Get, InvalidValue, type Kind, type Setting} from './define.ts';
import {choice, dataKey, objectName, onOff} from './kinds.ts';
import {namespace} from './release.ts';
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

export const caSecret = defineSetting({
  id: 'ca-secret',
  group: 'TLS',
  question: 'Secret that holds the CA bundle',
  summary: 'Existing Secret that holds the CA bundle.',
  kind: objectName(),
  caution: () => 'The bundle in the Secret replaces the public roots of the agent: it has to hold the public CAs too.',
});

export const caFile: Setting<string> = defineSetting({
  id: 'ca-file',
  group: 'TLS',
  question: 'File with private CA certificates',
  summary: 'File with private CA certificates, PEM or DER; they go into values.yaml in the form the chart takes.',
  kind: caBundle(),
  explained: {
    text: 'PEM or DER, roots and intermediates. Certificates are public, so they go into values.yaml.',
    reference: 'agent-local 0.6.5, values.yaml (agent.tls.caBundle)',
  },
  rule: (_, get) =>
    get(caSecret)
      ? new InvalidValue('excludes --ca-secret: the charts take one of them and drop the other', 'Give one of the two')
      : undefined,
});

const hasCa = (get: Get): boolean => get(caFile) !== undefined || get(caSecret) !== undefined;

export const caSecretKey = defineSetting({
  id: 'ca-secret-key',
  group: 'TLS',
  question: 'Key of the bundle in that Secret',
  summary: 'Key of the bundle in that Secret.',
  kind: dataKey(),
  appliesWhen: {test: (get) => get(caSecret) !== undefined, needs: '--ca-secret'},
  fallback: () => 'ca-bundle.crt',
});

export const caScope = defineSetting({
  id: 'ca-scope',
  group: 'TLS',
  question: 'Who trusts these CAs?',
  summary: 'Whether the agent and its runs trust the CAs or only the runs.',
  kind: choice(['all', 'tasks']),
  appliesWhen: {test: hasCa, needs: '--ca-file or --ca-secret'},
  fallback: () => 'all' as const,
});

export const caPublicRoots: Setting<boolean> = defineSetting({
  id: 'ca-public-roots',
  group: 'TLS',
  question: 'Add the public root certificates?',
  summary: 'Append the public root certificates that this Node.js ships to the bundle.',
  kind: onOff(),
  appliesWhen: {test: (get) => get(caFile) !== undefined, needs: '--ca-file'},
});

const createTls = (name: string, where: string): string =>
  kubectlCommand({}, 'create', 'secret', 'tls', name, '--namespace', where, '--cert=tls.crt', '--key=tls.key');

export const clientCertFile: Setting<Secret> = defineSetting({
  id: 'client-cert-file',
  group: 'TLS',
  question: 'File with the client certificate',
  summary: 'File with the client certificate for mutual TLS, PEM; it becomes a Secret.',
  kind: clientCertificate(),
  caution: (_, get) =>
    `The values only name Secret ${get(clientCertSecret)}. Create it before the install: ${createTls(get(clientCertSecret) as string, get(namespace) as string)}`,
  rule: (_, get) =>
    get(clientKeyFile)
      ? undefined
      : new InvalidValue('has no key: the charts would leave mutual TLS off without a word', 'Add --client-key-file'),
  carriedBy: () => clientCertSecret,
});

export const clientKeyFile: Setting<Secret> = defineSetting({
  id: 'client-key-file',
  group: 'TLS',
  question: 'File with the key of the client certificate',
  summary: 'File with the key of the client certificate, PEM; it becomes a Secret.',
  kind: privateKey(),
  rule: (key, get) => {
    const certificate = get(clientCertFile);
    if (!certificate) return new InvalidValue('has no certificate', 'Add --client-cert-file');
    return matches(certificate, key)
      ? undefined
      : new InvalidValue('does not belong to the certificate in --client-cert-file', 'Take the pair that was made together');
  },
  carriedBy: () => clientCertSecret,
});

export const clientCertSecret: Setting<string> = defineSetting({
  id: 'client-cert-secret',
  group: 'TLS',
  question: 'Secret that holds the client certificate',
  summary: 'Secret of type kubernetes.io/tls that holds the client certificate.',
  kind: objectName(),
  fallback: (get) => (get(clientCertFile) ? 'scalr-agent-client-cert' : undefined),
});
