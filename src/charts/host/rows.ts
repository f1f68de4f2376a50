import {at, getAt, textAt} from '../../ground/tree.ts';
import {debug, logFormat, token, tokenFile, url} from '../../settings/agent.ts';
import {cache, cachePath} from '../../settings/cache.ts';
import type {Get, Setting} from '../../settings/define.ts';
import {agentImage, imagePullPolicy, imageRegistry, runnerImage} from '../../settings/images.ts';
import {withoutRegistry} from '../../settings/kinds/images.ts';
import {gracePeriod, shutdownMode, writableRoot} from '../../settings/lifecycle.ts';
import {metadataService, providerMirror, workloadIdentity} from '../../settings/network.ts';
import {podLabel} from '../../settings/placement.ts';
import {concurrency, isolation, purpose} from '../../settings/purpose.ts';
import {release, target} from '../../settings/release.ts';
import {runSize} from '../../settings/size.ts';
import {
  dataHome,
  moduleCache,
  moduleCacheLimit,
  providerCache,
  providerCacheLimit,
} from '../../settings/storage.ts';
import {caFile, caPublicRoots, caScope, clientCertFile, clientKeyFile} from '../../settings/tls.ts';
import {caBundleRows} from '../shared/ca-rows.ts';
import {cacheLimit} from '../shared/cache-rows.ts';
import {asCores, asEnum, asMebibytes, asMirrorsText, asOnOff} from '../shared/codecs.ts';
import {extraVariables, VARIABLES_OF_SETTINGS} from '../shared/extra-variables.ts';
import {proxyVariables, telemetryVariables} from '../shared/network-rows.ts';
import {asStopAction, stopPeriod} from '../shared/pod-rows.ts';
import type {Row, ValuesEntry} from '../shared/row.ts';
import {
  implied,
  key,
  notWritten,
  row,
  type VariableOptions,
  variable,
} from '../shared/row-kinds.ts';
import {inCatalogOrder} from '../shared/support.ts';

/**
 * How an agent works: `containers` starts a container for each run through the Docker socket, `local` executes runs in its own
 * container, `vcs` executes no runs. https://docs.scalr.io/docs/drivers
 */
export type Mode = 'containers' | 'local' | 'vcs';

export function modeOf(get: Get): Mode {
  if (get(purpose) === 'vcs') return 'vcs';
  return get(isolation) === 'shared' ? 'local' : 'containers';
}

const isIn =
  (...modes: readonly Mode[]) =>
  (get: Get): boolean =>
    modes.includes(modeOf(get));

/** An agent executes at most this many runs at the same time (docs.scalr.io, self-hosted agents). */
export const RUNS_PER_AGENT = 5;

/** Hosts that must never use a proxy: the machine itself and its metadata service. */
const ON_THE_HOST = ['localhost', '127.0.0.1', '169.254.169.254'];

const MAP = 'environment';
const named = <T>(setting: Setting<T>, name: string, options: VariableOptions<T> = {}): Row<T> =>
  variable(setting, {map: MAP, name, ...options});

const ON_OFF = asOnOff('true', 'false');
const DRIVER = at(`${MAP}.SCALR_AGENT_DRIVER`);
const TASK_IMAGE = at(`${MAP}.SCALR_AGENT_CONTAINER_TASK_IMAGE`);
const TASK_IMAGE_MODE = at(`${MAP}.SCALR_AGENT_CONTAINER_TASK_IMAGE_MODE`);
const TASK_REGISTRY = at(`${MAP}.SCALR_AGENT_CONTAINER_TASK_IMAGE_REGISTRY`);

const containers = isIn('containers');
const local = isIn('local');
const runs = isIn('containers', 'local');

const checkLimits =
  'The limit is passed to the agent in a variable that is documented for Kubernetes. Check a run with docker inspect.';

/** Variables that rows write, with the setting to use instead of --extra-env. */
export const OWN_VARIABLES: ReadonlyMap<string, Setting> = new Map([
  ...VARIABLES_OF_SETTINGS,
  ['SCALR_AGENT_PROVIDER_NETWORK_MIRRORS', providerMirror as Setting],
  ['SCALR_AGENT_NAME', release as Setting],
  ['SCALR_AGENT_DRIVER', isolation as Setting],
  ['SCALR_AGENT_DATA_DIR', dataHome as Setting],
  ['SCALR_AGENT_CACHE_DIR', cachePath as Setting],
  ['SCALR_AGENT_CONTAINER_TASK_CA_CERT', caScope as Setting],
  ['SCALR_AGENT_CONTAINER_TASK_CPU_LIMIT', runSize.cpuLimit as Setting],
  ['SCALR_AGENT_CONTAINER_TASK_MEM_LIMIT', runSize.memoryLimit as Setting],
  ['SCALR_AGENT_CONTAINER_TASK_IMAGE', runnerImage as Setting],
  ['SCALR_AGENT_CONTAINER_TASK_IMAGE_MODE', runnerImage as Setting],
  ['SCALR_AGENT_CONTAINER_TASK_IMAGE_REGISTRY', imageRegistry as Setting],
  ['SCALR_AGENT_WORKER_ON_STOP_ACTION', shutdownMode as Setting],
  ['SCALR_AGENT_WORKER_DRAIN_TIMEOUT', gracePeriod as Setting],
  ['SCALR_AGENT_WORKER_GRACE_SHUTDOWN_TIMEOUT', gracePeriod as Setting],
]);

/** Settings that agents on every host support. */
const shared: readonly Row[] = [
  notWritten(target),
  named(url, 'SCALR_URL'),
  // Secrets are written to files of their own.
  ...[token, tokenFile, clientCertFile, clientKeyFile].map((setting) =>
    notWritten(setting as Setting),
  ),
  named(debug, 'SCALR_AGENT_DEBUG', {as: asOnOff('1', '0')}),
  named(logFormat, 'SCALR_AGENT_LOG_FORMAT'),
  key(purpose, 'purpose'),
  ...proxyVariables(MAP, {}, ON_THE_HOST),
  notWritten(metadataService, {accepts: (value) => value === 'allow'}),
  notWritten(workloadIdentity, {accepts: (value) => value === 'none'}),
  ...caBundleRows('tls').filter(({setting}) => setting === caFile || setting === caPublicRoots),
  key(caScope, 'tls.scope', {accepts: (scope, {get}) => scope === 'all' || containers(get)}),
  named(dataHome, 'SCALR_AGENT_DATA_DIR', {when: runs}),
  named(cachePath, 'SCALR_AGENT_CACHE_DIR', {when: runs}),
  named(providerCache, 'SCALR_AGENT_PROVIDER_CACHE_ENABLED', {as: ON_OFF, when: runs}),
  named(providerCacheLimit, 'SCALR_AGENT_PROVIDER_CACHE_SIZE_LIMIT_MB', {
    ...cacheLimit,
    when: runs,
  }),
  named(moduleCache, 'SCALR_AGENT_MODULE_CACHE_ENABLED', {as: ON_OFF, when: runs}),
  named(moduleCacheLimit, 'SCALR_AGENT_MODULE_CACHE_SIZE_LIMIT_MB', {...cacheLimit, when: runs}),
  named(providerMirror, 'SCALR_AGENT_PROVIDER_NETWORK_MIRRORS', {as: asMirrorsText, when: runs}),
  named(runSize.cpuLimit, 'SCALR_AGENT_CONTAINER_TASK_CPU_LIMIT', {
    as: asCores,
    when: containers,
    partly: () => checkLimits,
  }),
  named(runSize.memoryLimit, 'SCALR_AGENT_CONTAINER_TASK_MEM_LIMIT', {
    as: asMebibytes,
    when: containers,
    partly: () => checkLimits,
  }),
  row({
    setting: runnerImage,
    when: containers,
    paths: [TASK_IMAGE, TASK_IMAGE_MODE],
    write: (reference, {get}) => [
      [TASK_IMAGE_MODE, 'golden'],
      [TASK_IMAGE, [get(imageRegistry), reference].filter(Boolean).join('/')],
    ],
    read: (values, {get}) =>
      withoutRegistry(textAt(values, TASK_IMAGE), get(imageRegistry)) || undefined,
  }),
  ...telemetryVariables(MAP),
  named(shutdownMode, 'SCALR_AGENT_WORKER_ON_STOP_ACTION', {as: asStopAction, when: runs}),
  stopPeriod(
    {
      grace: 'container.stopSeconds',
      drain: `${MAP}.SCALR_AGENT_WORKER_DRAIN_TIMEOUT`,
      stop: `${MAP}.SCALR_AGENT_WORKER_GRACE_SHUTDOWN_TIMEOUT`,
    },
    {timeoutAs: String, when: runs, accepts: (period) => period > 60},
  ),
  extraVariables([{path: MAP}], {
    own: OWN_VARIABLES,
    partly: (_, {get}) =>
      containers(get)
        ? 'Extra variables are set for the agent, not for run containers.'
        : undefined,
  }),
];

/** Settings of the container that the agent itself runs in. */
const inContainer: readonly Row[] = [
  notWritten(release),
  row({
    setting: isolation,
    paths: [DRIVER],
    write: (value) => (value === 'shared' ? [[DRIVER, 'local']] : []),
    read: (values) => (getAt(values, DRIVER) === 'local' ? 'shared' : undefined),
    accepts: (_, {get}) => runs(get),
  }),
  key(concurrency, 'concurrency', {when: runs}),
  key(cache, 'cache', {
    when: runs,
    accepts: (kind, {get}) => kind === 'hostpath' || (kind === 'ephemeral' && local(get)),
  }),
  key(runSize.cpuLimit, 'container.cpus', {
    as: {...asCores, write: (value) => String(asCores.write(value))},
    when: local,
  }),
  key(runSize.memoryLimit, 'container.memory', {when: local}),
  key(writableRoot, 'container.user', {
    as: asOnOff('0:0', '1000:1000'),
    accepts: (isRoot, {get}) => isRoot || !containers(get),
    partly: (isRoot, {get}) =>
      isRoot && containers(get) ? 'Containers of runs use the user of their image.' : undefined,
  }),
  key(podLabel, 'container.labels', {
    partly: () => 'The labels are set on the agent container, not on run containers.',
  }),
  row({
    setting: imageRegistry,
    paths: [at('container.registry'), TASK_REGISTRY],
    write: (registry, {get}) => [
      [at('container.registry'), registry],
      // The last slash keeps the namespace of the images.
      ...(containers(get) ? [[TASK_REGISTRY, `${registry}/`] as ValuesEntry] : []),
    ],
    read: (values) => textAt(values, 'container.registry') || undefined,
  }),
  key(imagePullPolicy, 'container.pull', {
    as: asEnum({Always: 'always', IfNotPresent: 'missing', Never: 'never'}),
  }),
  key(agentImage, 'container.image'),
];

/** Settings of the service of the Linux packages. */
const asService: readonly Row[] = [
  implied(isolation, (_, {get}) => (modeOf(get) === 'vcs' ? undefined : 'per-run'), {
    accepts: (value, {get}) => value === 'per-run' && containers(get),
  }),
  named(concurrency, 'SCALR_AGENT_CONCURRENCY', {
    when: containers,
    accepts: (value) => value <= RUNS_PER_AGENT,
  }),
  key(cache, 'cache', {when: runs, accepts: (kind) => kind === 'hostpath'}),
  key(writableRoot, 'service.root', {as: asOnOff('root', 'scalr-agent')}),
  key(imageRegistry, TASK_REGISTRY, {
    when: containers,
    as: {
      write: (registry) => `${registry}/`,
      read: (tree) => String(tree).replace(/\/$/, '') || undefined,
    },
  }),
];

export const containerRows = inCatalogOrder([...shared, ...inContainer]);
export const serviceRows = inCatalogOrder([...shared, ...asService]);
