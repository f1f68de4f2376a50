import {kubectlCommand} from '../ground/command-line.ts';
import {changing} from '../ground/finding.ts';
import type {Secret} from '../ground/secret.ts';
import {defineSetting, type Get, type Setting} from './define.ts';
import {caBundleKind, clientCertificate, matches, privateKey} from './kinds/certificates.ts';
import {InvalidValue} from './kinds/kind.ts';
import {choice, dataKey, objectName, onOff} from './kinds/texts.ts';
import {namespace, release, secretNamesOf} from './release.ts';

export const caFile: Setting<string> = defineSetting('TLS', 'ca-file', {
  variable: 'SCALR_AGENT_CA_CERT',
  question: 'File with private CA certificates',
  summary:
    'File with private CA certificates, PEM or DER. Written to values.yaml in the format that the chart requires.',
  kind: caBundleKind(),
  explained:
    'Root and intermediate certificates, PEM or DER. Certificates are public, so they are written to values.yaml.',
  reference: 'agent-local 0.6.5, values.yaml (agent.tls.caBundle)',
  rule: (_, get) =>
    get(caSecret)
      ? new InvalidValue(
          'Conflicts with the CA secret, because the charts use only one of the two',
          'Remove one of the two',
        )
      : undefined,
});

export const caSecret = defineSetting('TLS', 'ca-secret', {
  question: 'Secret with the CA bundle',
  summary: 'Existing Secret that contains the CA bundle.',
  kind: objectName(),
  caution: () =>
    'The CA bundle in the Secret replaces the public root certificates of the agent. It must also contain the public CAs.',
});

const hasCa = (get: Get): boolean => get(caFile) !== undefined || get(caSecret) !== undefined;

export const caSecretKey = defineSetting('TLS', 'ca-secret-key', {
  question: 'Key of the CA bundle in the Secret',
  kind: dataKey(),
  appliesWhen: {test: (get) => get(caSecret) !== undefined, needs: '--ca-secret'},
  fallback: () => 'ca-bundle.crt',
});

export const caScope = defineSetting('TLS', 'ca-scope', {
  isForRuns: true,
  question: 'Scope of the CA bundle',
  summary: 'Scope of the CA bundle: the agent and its runs (all), or runs only (tasks).',
  kind: choice(['all', 'tasks']),
  appliesWhen: {test: hasCa, needs: '--ca-file or --ca-secret'},
  fallback: () => 'all' as const,
});

export const caPublicRoots: Setting<boolean> = defineSetting('TLS', 'ca-public-roots', {
  question: 'Add the public root certificates?',
  summary: 'Append the public root certificates bundled with Node.js to the CA bundle.',
  kind: onOff(),
  meanings: {
    true: 'public servers are trusted too',
    false: 'the file already contains every CA that is needed',
  },
  appliesWhen: {test: (get) => get(caFile) !== undefined, needs: '--ca-file'},
});

const createTls = (name: string, where: string): string =>
  kubectlCommand(
    {},
    'create',
    'secret',
    'tls',
    name,
    '--namespace',
    where,
    '--cert=tls.crt',
    '--key=tls.key',
  );

export const clientCertFile: Setting<Secret> = defineSetting('TLS', 'client-cert-file', {
  variable: 'SCALR_AGENT_TLS_CERT_FILE',
  question: 'Client certificate file',
  summary: 'Client certificate file for mutual TLS, PEM; stored in a Secret.',
  kind: clientCertificate(),
  caution: (_, get) =>
    `values.yaml contains only the name of Secret ${get(clientCertSecret)}, which install creates. Before another tool applies the values: ${createTls(get(clientCertSecret) as string, get(namespace) as string)}`,
  rule: (_, get) =>
    get(clientKeyFile)
      ? undefined
      : new InvalidValue(
          'A client certificate requires a key; without it, the charts silently disable mutual TLS',
          changing`Add ${clientKeyFile}`,
        ),
  carriedBy: () => clientCertSecret,
});

export const clientKeyFile: Setting<Secret> = defineSetting('TLS', 'client-key-file', {
  variable: 'SCALR_AGENT_TLS_KEY_FILE',
  question: 'Client key file',
  summary: 'Private key file of the client certificate, PEM; stored in a Secret.',
  kind: privateKey(),
  rule: (key, get) => {
    const certificate = get(clientCertFile);
    if (!certificate)
      return new InvalidValue(
        'A client key requires a certificate',
        changing`Add ${clientCertFile}`,
      );
    return matches(certificate, key)
      ? undefined
      : new InvalidValue(
          'The key does not match the client certificate',
          'Use the key that belongs to the certificate',
        );
  },
  carriedBy: () => clientCertSecret,
});

export const clientCertSecret: Setting<string> = defineSetting('TLS', 'client-cert-secret', {
  question: 'Secret with the client certificate',
  summary:
    'Secret of type kubernetes.io/tls that contains the client certificate. Default with --client-cert-file: RELEASE-client-cert.',
  kind: objectName(),
  fallback: (get) =>
    get(clientCertFile) ? secretNamesOf(get(release)).clientCertificate : undefined,
  fallbackFrom: 'from the release name',
});

export const tlsSettings: readonly Setting[] = [
  caFile,
  caSecret,
  caSecretKey,
  caScope,
  caPublicRoots,
  clientCertFile,
  clientKeyFile,
  clientCertSecret,
];
