import {namesRegistry, splitImage} from '../../settings/addresses.ts';
import {debug, logFormat, tokenSecret, tokenSecretKey, url} from '../../settings/agent.ts';
import {cloud, nodeOs} from '../../settings/cluster.ts';
import {metadataService, workloadIdentity} from '../../settings/network.ts';
import {agentImage, gracePeriod, imagePullSecret, imageRegistry, nodeSelector, shutdownMode, toleration} from '../../settings/pods.ts';
import {concurrency, isolation, purpose} from '../../settings/purpose.ts';
import {cacheAccessMode, dataHome, dataSize, moduleCache, providerCache} from '../../settings/storage.ts';
import {clientCertSecret} from '../../settings/tls.ts';
import {asNumber, asQuantity, asReferences, asSwitch, asText, asTextMap, asTolerations, asWord} from '../codecs.ts';
import type {Entry, Row, Scope} from '../define.ts';
import {caBundle, caExtraVariable} from '../rows/ca-bundle.ts';
import {claimCache} from '../rows/cache.ts';
import {extraVariables} from '../rows/extra-variables.ts';
import {proxyVariables} from '../rows/proxy.ts';
import {always, key, only, row, textKey, unwritten, variable} from '../rows/row-kinds.ts';
import {runResources} from '../rows/run-resources.ts';
import {serviceAccount} from '../rows/service-account.ts';
import {telemetryVariables} from '../rows/telemetry.ts';
import {at, getAt, type Values} from '../tree.ts';

const REPOSITORY = at('image.repository');
const TAG = at('image.tag');

/** A rolling update would wait for a volume that the old pod still holds (R12). */
const withClaim = {
  paths: [at('strategy.type')],
  write: ({get}: Scope): Entry[] =>
    get(cacheAccessMode) === 'ReadWriteMany' || (get(concurrency) ?? 1) > 1
      ? []
      : [[at('strategy.type'), 'Recreate', 'A rolling update would wait for the volume that the old pod still holds']],
};

const SPLIT_PERSISTENCE = '0.5.74 || >=0.6.1';
const ONE_PERSISTENCE = '>=0.5.64 <=0.5.73 || >=0.5.75 <=0.5.76';

/** The repository without the mirror in front of it. */
function mirrorOf(values: Values, {defaults}: Scope): {registry?: string; repository: string} {
  const repository = asText.read(getAt(values, REPOSITORY) ?? '') ?? '';
  const original = asText.read(getAt(defaults, REPOSITORY) ?? '') ?? '';
  return repository.endsWith(`/${original}`) && namesRegistry(repository)
    ? {registry: repository.slice(0, -original.length - 1), repository: original}
    : {repository};
}

/** Where each setting lies in the values of agent-local. */
export const rows: readonly Row[] = [
  textKey(url, 'agent.url'),
  textKey(tokenSecret, 'agent.tokenExistingSecret.name'),
  textKey(tokenSecretKey, 'agent.tokenExistingSecret.key'),
  variable(debug, 'extraEnv', 'SCALR_AGENT_DEBUG', asSwitch('1', '0')),
  variable(logFormat, 'extraEnv', 'SCALR_AGENT_LOG_FORMAT', asWord({json: 'json', plain: 'plain', dev: 'dev'})),
  unwritten(purpose),
  always(isolation, 'shared'),
  key(concurrency, 'replicaCount', asNumber),
  unwritten(cloud),
  unwritten(nodeOs),
  ...proxyVariables('extraEnv'),
  always(metadataService, 'allow', {in: '<=0.5.64'}),
  row({
    ...key(metadataService, 'agent.allowMetadataService', asWord({block: false, allow: true}), {in: '0.5.65 - 0.5.66'}),
    // Absent from values.yaml, and without it the policy is there.
    read: (values) => (getAt(values, at('agent.allowMetadataService')) === true ? 'allow' : 'block'),
  }),
  key(metadataService, 'allowMetadataService', asWord({block: false, allow: true}), {in: '>=0.5.67'}),
  unwritten(workloadIdentity, {accepts: (kind) => kind !== 'azure'}),
  ...caBundle('agent.tls', '>=0.6.1'),
  ...only({in: '<0.6.0'}, caExtraVariable()),
  textKey(clientCertSecret, 'agent.tls.clientCertSecret.name', {in: '0.5.73 - 0.5.74 || >=0.6.1'}),
  ...claimCache({volume: 'persistence', limit: 'persistence.emptyDir.sizeLimit', in: '<=0.5.63', withClaim}),
  ...claimCache({volume: 'persistence', limit: 'persistence.cache.emptyDir.sizeLimit', in: ONE_PERSISTENCE, withClaim}),
  ...claimCache({volume: 'persistence.cache', limit: 'persistence.cache.emptyDir.sizeLimit', in: SPLIT_PERSISTENCE, withClaim}),
  textKey(dataHome, 'agent.dataDir'),
  key(dataSize, 'persistence.data.emptyDir.sizeLimit', asQuantity, {in: '>=0.5.64'}),
  variable(providerCache, 'extraEnv', 'SCALR_AGENT_PROVIDER_CACHE_ENABLED', asSwitch('true', 'false')),
  variable(moduleCache, 'extraEnv', 'SCALR_AGENT_MODULE_CACHE_ENABLED', asSwitch('true', 'false')),
  ...runResources('resources'),
  key(nodeSelector, 'nodeSelector', asTextMap),
  key(toleration, 'tolerations', asTolerations),
  ...serviceAccount(),
  row({
    setting: imageRegistry,
    accepts: (_, {get, defaults}) => ['', getAt(defaults, REPOSITORY)].includes(splitImage(get(agentImage) ?? '').repository),
    paths: [REPOSITORY],
    write: (registry, {defaults}) => [[REPOSITORY, `${registry}/${getAt(defaults, REPOSITORY)}`]],
    read: (values, scope) => mirrorOf(values, scope).registry,
  }),
  key(imagePullSecret, 'imagePullSecrets', asReferences),
  row({
    setting: agentImage,
    paths: [REPOSITORY, TAG],
    write: (reference, {get}) => {
      const {repository, tag} = splitImage(reference);
      return [
        ...(get(imageRegistry) === undefined ? [[REPOSITORY, repository] as const] : []),
        ...(tag === undefined ? [] : [[TAG, tag] as const]),
      ];
    },
    read: (values, scope) => {
      const tag = asText.read(getAt(values, TAG) ?? '');
      return tag === undefined ? mirrorOf(values, scope).repository : `${mirrorOf(values, scope).repository}:${tag}`;
    },
  }),
  ...telemetryVariables('extraEnv'),
  key(shutdownMode, 'agent.shutdownMode', asWord({graceful: 'graceful', drain: 'drain', force: 'force'})),
  key(gracePeriod, 'terminationGracePeriodSeconds', asNumber),
  extraVariables([{path: 'extraEnv'}]),
];
