import {caBundle, clientCertificate, matches, privateKey} from './certificates.ts';
import {defineSetting, type Get, InvalidValue, type Setting} from './define.ts';
import {choice, dataKey, objectName, onOff} from './kinds.ts';
import type {Secret} from './secret.ts';

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

export const clientCertFile: Setting<Secret> = defineSetting({
  id: 'client-cert-file',
  group: 'TLS',
  question: 'File with the client certificate',
  summary: 'File with the client certificate for mutual TLS, PEM; it becomes a Secret.',
  kind: clientCertificate(),
  caution: (_, get) =>
    `The values only name Secret ${get(clientCertSecret)}: it has to be in the namespace before the install (kubectl create secret tls).`,
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
