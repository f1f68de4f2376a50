import {at, getAt, isOn, type Path, textAt, type Values} from '../../ground/tree.ts';
import {agentImage} from '../../settings/images.ts';
import type {Chart, FormerKeys} from '../shared/chart.ts';
import {variablesIn} from '../shared/chart.ts';
import {
  annotationsWithoutAccount,
  CLAIM_KEYS,
  ignoredKeysBelow,
  ignoredWithoutSecret,
  ignoredWithoutSwitch,
  labelsWithoutAccount,
} from '../shared/ignored-keys.ts';
import {MUTUAL_TLS, ONE_PERSISTENCE, SPLIT_PERSISTENCE} from './ranges.ts';

/** Environment variables that the templates of agent-local set themselves or refuse (rendered from every release). */
export const ownVariables = variablesIn({
  '*': `SCALR_URL SCALR_AGENT_TOKEN SCALR_AGENT_NAME SCALR_AGENT_DRIVER SCALR_AGENT_CONCURRENCY SCALR_AGENT_DISCONNECT_ON_STOP
    SCALR_AGENT_WORKER_ON_STOP_ACTION SCALR_AGENT_WORKER_GRACE_SHUTDOWN_TIMEOUT SCALR_AGENT_WORKER_DRAIN_TIMEOUT
    SCALR_AGENT_DATA_DIR`,
  '>=0.5.64': 'SCALR_AGENT_CACHE_DIR',
  '>=0.6.1': 'SCALR_AGENT_CA_CERT SSL_CERT_FILE',
  [MUTUAL_TLS]: 'SCALR_AGENT_TLS_CERT_FILE SCALR_AGENT_TLS_KEY_FILE',
  '>=0.6.4': 'SCALR_AGENT_PROVIDER_NETWORK_MIRRORS',
});

/** The keys from before the split are in use, and from 0.6.1 on they win: docs/charts/agent-local.md, "Old and new persistence keys". */
export const usesOldPersistence = (values: Values): boolean =>
  isOn(values, 'persistence.enabled') ||
  !['', null, undefined].includes(
    getAt(values, at('persistence.persistentVolumeClaim.claimName')) as string,
  );

export const images: Chart['images'] = [{used: 'agent', setting: agentImage, maps: ['image']}];

const NO_CACHE_CLAIM = 'the cache is not persistent';

export const ignoredKeys: Chart['ignoredKeys'] = [
  annotationsWithoutAccount,
  labelsWithoutAccount,
  {
    in: '0.5.64 - 0.5.66',
    path: 'allowMetadataService',
    because: 'the template of this version reads agent.allowMetadataService',
    instead: 'agent.allowMetadataService',
  },
  {
    in: SPLIT_PERSISTENCE,
    path: 'persistence.persistentVolumeClaim',
    unless: usesOldPersistence,
    because: 'the old keys are used only with persistence.enabled',
    instead: 'persistence.cache.persistentVolumeClaim',
  },
  {
    path: 'persistence.cache.persistentVolumeClaim',
    unless: (values) => !usesOldPersistence(values),
    because: 'persistence.enabled or its claimName is set, and the old keys take precedence',
  },
  ...ignoredWithoutSwitch('persistence.enabled', {
    in: ONE_PERSISTENCE,
    below: 'persistence.persistentVolumeClaim',
    keys: CLAIM_KEYS,
    because: NO_CACHE_CLAIM,
  }),
  ...ignoredKeysBelow({
    below: 'persistence.cache.persistentVolumeClaim',
    keys: [...CLAIM_KEYS, 'subPath'],
    unless: (values) => isOn(values, 'persistence.cache.enabled') || usesOldPersistence(values),
    because: NO_CACHE_CLAIM,
    instead: 'persistence.cache.enabled: true',
  }),
  ...ignoredWithoutSwitch('persistence.data.enabled', {
    below: 'persistence.data.persistentVolumeClaim',
    keys: [...CLAIM_KEYS, 'subPath'],
    because: 'the data volume is not persistent',
  }),
  ...ignoredWithoutSecret({
    below: 'agent.tokenExistingSecret',
    keys: ['key'],
    read: ['agent.tokenExistingSecret.name'],
  }),
  ...ignoredWithoutSecret({
    below: 'agent.tls.caBundleSecret',
    keys: ['key'],
    read: ['agent.tls.caBundleSecret.name', 'agent.tls.caBundle'],
  }),
  ...ignoredWithoutSecret({
    below: 'agent.tls.clientCertSecret',
    keys: ['certKey', 'keyKey'],
    read: ['agent.tls.clientCertSecret.name', 'agent.tls.clientCert'],
  }),
  ...ignoredKeysBelow({
    below: 'secret',
    keys: ['labels', 'annotations'],
    unless: (values) => textAt(values, 'agent.tokenExistingSecret.name') === '',
    because: 'the chart creates no token Secret, because agent.tokenExistingSecret.name is set',
  }),
];

const isOfClaim = (path: Path): boolean =>
  path[0] === 'persistence' && ['enabled', 'persistentVolumeClaim'].includes(path[1] ?? '');

export const formerKeys: readonly FormerKeys[] = [
  {
    in: SPLIT_PERSISTENCE,
    test: (path, values) =>
      isOfClaim(path) &&
      isOn(values, 'persistence.enabled') &&
      textAt(values, 'persistence.persistentVolumeClaim.claimName') === '',
    because:
      'The old persistence keys are kept: with persistence.cache, the chart creates another PVC and Helm deletes the current one.',
    remedy:
      'To start with an empty cache, replace them with persistence.cache.enabled and persistence.cache.persistentVolumeClaim',
  },
];

export const kubernetesFloors: Chart['kubernetesFloors'] = [
  {
    in: '>=0.5.64',
    version: '1.33',
    isHard: false,
    because: 'documented in the chart README, but not enforced',
  },
];
