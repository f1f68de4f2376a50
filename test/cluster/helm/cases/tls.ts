import {X509Certificate} from 'node:crypto';
import {readFileSync} from 'node:fs';
import {rootCertificates} from 'node:tls';
import {fileURLToPath} from 'node:url';
import {within} from '../../../../src/charts/releases/versions.ts';
import type {Values} from '../../../../src/ground/tree.ts';
import {
  agentRoles,
  allRoles,
  type Case,
  type Claim,
  claim,
  EVERY_CHART,
  inEach,
  NESTED,
} from '../claims.ts';
import type {Rendered} from '../render.ts';
import {type Container, mountedAt, variableOf} from '../workloads.ts';

const CA_FILE = fileURLToPath(new URL('../fixtures/ca.pem', import.meta.url));
const CA = readFileSync(CA_FILE, 'utf8');

/** Versions that mount certificates from Secrets; the others pass them in a variable. */
const MOUNTS_CA = {'agent-local': '>=0.6.1', 'agent-job': NESTED} as const;
const MOUNTS_CLIENT_CERT = {
  'agent-local': '0.5.73 - 0.5.74 || >=0.6.1',
  'agent-job': '0.5.76 - 0.5.77 || >=0.6.1',
} as const;

/** Secret and key that are mounted at a path of a container. */
function secretAt(
  container: Container,
  path: string | undefined,
): [secret: unknown, key: unknown] | undefined {
  const found = mountedAt(container, path) ?? mountedAt(container, path?.replace(/\/[^/]*$/, ''));
  const source = found?.volume?.['secret'] as
    | {secretName: string; items?: {key: string; path: string}[]}
    | undefined;
  const file = found?.mount.subPath ?? path?.split('/').at(-1);
  return source && [source.secretName, source.items?.find((item) => item.path === file)?.key];
}

/** Content of a Secret that the release creates. */
const contentOf = ({ofKind}: Rendered, [name, key]: [unknown, unknown]): string | undefined => {
  const data = ofKind('Secret').find(({metadata}) => metadata.name === name)?.['data'] as
    | Values
    | undefined;
  const content = data?.[String(key)];
  return content === undefined ? undefined : Buffer.from(String(content), 'base64').toString();
};

const fingerprints = (pem: string | undefined): string[] =>
  [...new Set(pem?.match(/-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g) ?? [])]
    .map((each) => new X509Certificate(each).fingerprint256)
    .toSorted();

const isMounted = ({target: {chart, version}}: Rendered): boolean =>
  chart !== 'agent-k8s' && within(version, MOUNTS_CA[chart]);

/** All containers that use TLS trust only these certificates. */
function trusts(rendered: Rendered, pem: string): Claim[] {
  const found = (container: Container): string | undefined => {
    const variable = variableOf(container, 'SCALR_AGENT_CA_CERT');
    return isMounted(rendered)
      ? contentOf(rendered, secretAt(container, variable) ?? ['', ''])
      : Buffer.from(variable ?? '', 'base64').toString();
  };
  return [
    ...inEach(rendered, allRoles(rendered.target), (container) => [
      claim('the trusted certificates', fingerprints(found(container)), fingerprints(pem)),
    ]),
    ...(isMounted(rendered)
      ? inEach(rendered, allRoles(rendered.target), (container) => [
          claim(
            'SSL_CERT_FILE',
            variableOf(container, 'SSL_CERT_FILE'),
            variableOf(container, 'SCALR_AGENT_CA_CERT'),
          ),
        ])
      : []),
  ];
}

export const caFileCase: Case = {
  name: 'private certificates from a file',
  settings: {'ca-file': CA_FILE, 'ca-public-roots': false},
  takenBy: EVERY_CHART,
  check: (rendered) => trusts(rendered, CA),
};

export const caSecretCase: Case = {
  name: 'private certificates from a Secret under another key',
  settings: {'ca-secret': 'company-roots', 'ca-secret-key': 'bundle.pem'},
  takenBy: MOUNTS_CA,
  check: (rendered) => [
    claim('Secrets of the release', rendered.ofKind('Secret').length, 0),
    ...inEach(rendered, allRoles(rendered.target), (container) => [
      claim(
        'SSL_CERT_FILE',
        variableOf(container, 'SSL_CERT_FILE'),
        variableOf(container, 'SCALR_AGENT_CA_CERT'),
      ),
      claim(
        'source of the certificates',
        secretAt(container, variableOf(container, 'SCALR_AGENT_CA_CERT')),
        ['company-roots', 'bundle.pem'],
      ),
    ]),
  ],
};

export const clientCertCase: Case = {
  name: 'a client certificate from a Secret',
  settings: {'client-cert-secret': 'agent-identity'},
  takenBy: MOUNTS_CLIENT_CERT,
  check: (rendered) =>
    inEach(rendered, agentRoles(rendered.target), (container) => [
      claim(
        'source of the certificate',
        secretAt(container, variableOf(container, 'SCALR_AGENT_TLS_CERT_FILE')),
        ['agent-identity', 'tls.crt'],
      ),
      claim(
        'source of the key',
        secretAt(container, variableOf(container, 'SCALR_AGENT_TLS_KEY_FILE')),
        ['agent-identity', 'tls.key'],
      ),
    ]),
};

export const tlsCases: readonly Case[] = [
  caFileCase,
  {
    name: 'private certificates and the public roots',
    settings: {'ca-file': CA_FILE, 'ca-public-roots': true},
    takenBy: MOUNTS_CA,
    check: (rendered) => trusts(rendered, [CA, ...rootCertificates].join('\n')),
  },
  {
    name: 'private certificates for runs only',
    settings: {'ca-file': CA_FILE, 'ca-scope': 'tasks', 'ca-public-roots': false},
    takenBy: {'agent-k8s': '*'},
    check: (rendered) =>
      inEach(rendered, agentRoles(rendered.target), (container) => [
        claim('certificates of the agent', variableOf(container, 'SCALR_AGENT_CA_CERT'), ''),
        claim(
          'certificates of runs',
          fingerprints(
            Buffer.from(
              variableOf(container, 'SCALR_AGENT_CONTAINER_TASK_CA_CERT') ?? '',
              'base64',
            ).toString(),
          ),
          fingerprints(CA),
        ),
      ]),
  },
  caSecretCase,
  clientCertCase,
];
