import {dirname} from 'node:path/posix';
import existing from '../../../templates/export/token/existing.md';
import externalSecrets from '../../../templates/export/token/external-secrets.md';
import rotateEncrypted from '../../../templates/export/token/rotate/encrypted.md';
import rotateExisting from '../../../templates/export/token/rotate/existing.md';
import rotateExternal from '../../../templates/export/token/rotate/external-secrets.md';
import sealedSecrets from '../../../templates/export/token/sealed-secrets.md';
import sops from '../../../templates/export/token/sops.md';
import {commandLine, kubectlCommand} from '../../ground/command-line.ts';
import type {Values} from '../../ground/tree.ts';
import {type ExportedFile, fill} from '../machine/files.ts';
import type {Fleet, FleetMember, TokenSource} from './fleet.ts';
import {manifest} from './manifests.ts';

/** README sections of each way. */
const SECTIONS: Readonly<Record<TokenSource, {bootstrap: string; rotate: string}>> = {
  existing: {bootstrap: existing, rotate: rotateExisting},
  'external-secrets': {bootstrap: externalSecrets, rotate: rotateExternal},
  sops: {bootstrap: sops, rotate: rotateEncrypted},
  'sealed-secrets': {bootstrap: sealedSecrets, rotate: rotateEncrypted},
};

/** Name of the encrypted file, which only the user can write; empty without one. */
export const encryptedFile = ({token}: Pick<Fleet, 'token'>, name: string): string =>
  ({
    sops: `${name}.sops.yaml`,
    'sealed-secrets': `${name}.sealed.yaml`,
    existing: '',
    'external-secrets': '',
  })[token];

/** Key of the token in the store of External Secrets. */
export const remoteKey = (cluster: string): string => `scalr-agent/${cluster}`;

/** An ExternalSecret that becomes the Secret of the token. */
export function externalSecret(
  {name, namespace, secret}: FleetMember,
  {store = ''}: Fleet,
  annotations?: Record<string, string>,
): Values {
  const [kind, storeName] = store.includes('/') ? store.split('/') : ['ClusterSecretStore', store];
  return {
    apiVersion: 'external-secrets.io/v1',
    kind: 'ExternalSecret',
    metadata: {name: secret.name, namespace, ...(annotations ? {annotations} : {})},
    spec: {
      refreshInterval: '1h',
      secretStoreRef: {kind: kind as string, name: storeName as string},
      target: {name: secret.name, creationPolicy: 'Owner'},
      data: [{secretKey: secret.key, remoteRef: {key: remoteKey(name), property: 'token'}}],
    },
  };
}

/** Commands that take the token from a variable and leave it encrypted in a file, or in the cluster. */
export function tokenCommands(
  {token, store}: Pick<Fleet, 'token' | 'store'>,
  {name, namespace, secret, context}: FleetMember,
  file: string,
): string[] {
  if (token === 'external-secrets')
    return [`# Save the token in the store ${store}, as the property token of ${remoteKey(name)}`];
  const written = ['--dry-run=client', '--output', 'yaml'];
  // Every cluster seals with its own key.
  const cluster = context === undefined ? [] : ['--context', context];
  const source = `--from-file=${secret.key}=/dev/stdin`;
  const object = kubectlCommand(
    {},
    'create',
    'secret',
    'generic',
    secret.name,
    '--namespace',
    namespace,
    source,
    ...written,
  );
  const apply = (...flags: string[]): string =>
    kubectlCommand(
      context === undefined ? {} : {kubeContext: context},
      'apply',
      '--server-side',
      ...flags,
      '--filename',
      '-',
    );
  const last = {
    // Whoever created the Secret owns the token in it.
    existing: apply('--force-conflicts'),
    sops: `sops encrypt --input-type yaml --output-type yaml --filename-override ${file} /dev/stdin > ${file}`,
    'sealed-secrets': `${commandLine({tool: 'kubeseal', args: ['--format', 'yaml', ...cluster]})} > ${file}`,
  }[token];
  return [
    token === 'existing'
      ? `${kubectlCommand({}, 'create', 'namespace', namespace, ...written)} | ${apply()}`
      : `mkdir -p ${dirname(file)}`,
    // kubectl would create a Secret with an empty token.
    `: "\${SCALR_AGENT_TOKEN:?}" && printf %s "$SCALR_AGENT_TOKEN" | ${object} | ${last}`,
  ];
}

/** How the token gets into the cluster, for the README. */
export const tokenSection = (fleet: Fleet, member: FleetMember, file: string): string =>
  fill(SECTIONS[fleet.token].bootstrap, {
    secret: member.secret.name,
    key: member.secret.key,
    namespace: member.namespace,
    remote: remoteKey(member.name),
    store: fleet.store ?? '',
    file,
    commands: tokenCommands(fleet, member, file).join('\n'),
  }).trimEnd();

/** How a new token gets there, up to the restart of the agents. */
export const rotateSection = (
  {token, store = ''}: Fleet,
  {secret, namespace}: FleetMember,
): string => fill(SECTIONS[token].rotate, {secret: secret.name, namespace, store}).trimEnd();

/** Encrypts the values of Secrets only, so that reviewers can read the rest. */
export const sopsRules = ({token}: Pick<Fleet, 'token'>): ExportedFile[] =>
  token === 'sops'
    ? [
        {
          ...manifest(
            '.sops.yaml',
            [
              'Add your keys: age, kms, gcp_kms, azure_keyvault or pgp. Without them, sops reads SOPS_AGE_RECIPIENTS.',
              'Another export does not change this file.',
            ],
            {
              creation_rules: [
                {path_regex: '\\.sops\\.yaml$', encrypted_regex: '^(data|stringData)$'},
              ],
            },
          ),
          existing: 'kept',
        },
      ]
    : [];
