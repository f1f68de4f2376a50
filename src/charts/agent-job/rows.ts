import {splitImage} from '../../settings/addresses.ts';
import {debug, logFormat, otelEndpoint, otelMetrics, otelTraces, tokenSecret, tokenSecretKey, url} from '../../settings/agent.ts';
import {cloud, nodeOs} from '../../settings/cluster.ts';
import type {Setting} from '../../settings/define.ts';
import {metadataService, workloadIdentity} from '../../settings/network.ts';
import {
  agentImage,
  controllerNodeSelector,
  controllerToleration,
  gracePeriod,
  imagePullSecret,
  imageRegistry,
  nodeSelector,
  runnerImage,
  serviceAccountAnnotation,
  toleration,
} from '../../settings/pods.ts';
import {concurrency, isolation, purpose} from '../../settings/purpose.ts';
import {cache, cachePath, cacheSize, dataHome, dataSize, efsHandle, moduleCache, providerCache} from '../../settings/storage.ts';
import {clientCertSecret} from '../../settings/tls.ts';
import {asBoolean, asNumber, asQuantity, asReferences, asSwitch, asText, asTextMap, asTolerations, asWord} from '../codecs.ts';
import type {Entry, Row} from '../define.ts';
import {caBundle, caExtraVariable} from '../rows/ca-bundle.ts';
import {claimCache} from '../rows/cache.ts';
import {extraVariables} from '../rows/extra-variables.ts';
import {proxyKeys, proxyVariables} from '../rows/proxy.ts';
import {always, key, only, row, textKey, unwritten, variable} from '../rows/row-kinds.ts';
import {runResources} from '../rows/run-resources.ts';
import {serviceAccount} from '../rows/service-account.ts';
import {at, getAt, type Path, type Values} from '../tree.ts';
import {FLAT, MUTUAL_TLS, NESTED} from './versions.ts';

const CONTROLLER_ONLY =
  'agent-job up to 0.5.63 hands variables to the controller only; the pods of runs do not get this one. 0.5.64 mends that.';
const controllerOnly = {partly: () => CONTROLLER_ONLY};

/** Up to 0.5.63 templates/role.yaml is tied to the account of the chart. */
const ownAccount: Row<string>['partly'] = (_, {get}) =>
  get(serviceAccountAnnotation) === undefined
    ? 'With an account of your own the chart makes no Role: bind jobs, pods, pods/status, pods/log, pods/exec, configmaps and secrets to it, and agentworkers.scalr.io in the cluster.'
    : undefined;

const CACHE = at('persistence.cache.enabled');
const CACHE_DIRECTORY = at('persistence.cache.hostPath.path');
const AZURE_LABEL = [...at('task.podLabels'), 'azure.workload.identity/use'];
const OTEL = at('otel.enabled');

const imageAt = (setting: Setting<string>, paths: readonly string[], range: string): Row =>
  row({
    setting,
    in: range,
    paths: paths.flatMap((path) => [at(`${path}.repository`), at(`${path}.tag`)]),
    write: (reference) => {
      const {repository, tag} = splitImage(reference);
      return paths.flatMap((path): Entry[] => [
        [at(`${path}.repository`), repository],
        ...(tag === undefined ? [] : [[at(`${path}.tag`), tag] as Entry]),
      ]);
    },
    read: (values) =>
      ['repository', 'tag']
        .map((part) => asText.read(getAt(values, at(`${paths[0]}.${part}`)) ?? ''))
        .filter(Boolean)
        .join(':'),
  });

const hasHostPath = (values: Values): boolean =>
  getAt(values, CACHE) === true && asText.read(getAt(values, CACHE_DIRECTORY) ?? '') !== undefined;

const otel = (rows: readonly Row[]): Row[] =>
  rows.map((plain) => ({
    ...plain,
    in: NESTED,
    paths: [...plain.paths, OTEL] as Path[],
    write: (value, scope) => [[OTEL, true], ...plain.write(value, scope)],
    read: (values, scope) => (getAt(values, OTEL) === true ? plain.read(values, scope) : undefined),
  }));

/** Where each setting lies in the values of agent-job. */
export const rows: readonly Row[] = [
  textKey(url, 'agent.url'),
  textKey(tokenSecret, 'agent.tokenExistingSecret', {in: FLAT}),
  textKey(tokenSecretKey, 'agent.tokenExistingSecretKey', {in: FLAT}),
  textKey(tokenSecret, 'agent.tokenExistingSecret.name', {in: NESTED}),
  textKey(tokenSecretKey, 'agent.tokenExistingSecret.key', {in: NESTED}),
  variable(debug, 'extraEnv', 'SCALR_AGENT_DEBUG', asSwitch('1', '0'), {in: FLAT, ...controllerOnly}),
  variable(logFormat, 'extraEnv', 'SCALR_AGENT_LOG_FORMAT', asWord({json: 'json', plain: 'plain', dev: 'dev'}), {
    in: FLAT,
    ...controllerOnly,
  }),
  key(debug, 'agent.debug', asSwitch('1', '0'), {in: NESTED}),
  key(logFormat, 'agent.logFormat', asWord({json: 'json', plain: 'plain', dev: 'dev'}), {in: NESTED}),
  always(purpose, 'runs'),
  unwritten(isolation),
  unwritten(concurrency, {
    partly: (value) =>
      `agent-job starts a Job for every run the pool hands out and has no limit of its own. ${value} at a time need room on the nodes for ${value} of them.`,
  }),
  unwritten(cloud),
  unwritten(nodeOs),
  ...only({in: FLAT}, proxyVariables('extraEnv', CONTROLLER_ONLY)),
  ...only({in: NESTED}, proxyKeys('global.proxy')),
  key(metadataService, 'restrictMetadataService', asWord({block: true, allow: false}), {
    in: FLAT,
    partly: (value) =>
      value === 'block'
        ? 'The policy of agent-job up to 0.5.63 covers the controller only, not the pods of runs, and has no DNS rule. 0.5.69 mends both.'
        : undefined,
  }),
  key(metadataService, 'task.allowMetadataService', asWord({block: false, allow: true}), {in: NESTED}),
  unwritten(workloadIdentity, {in: FLAT, accepts: (kind) => kind !== 'azure'}),
  row({
    setting: workloadIdentity,
    in: NESTED,
    paths: [at('task.podLabels')],
    write: (kind) => (kind === 'azure' ? [[AZURE_LABEL, 'true']] : []),
    read: (values) => (getAt(values, AZURE_LABEL) === 'true' ? 'azure' : undefined),
  }),
  ...caBundle('global.tls', NESTED),
  ...only({in: FLAT}, caExtraVariable(controllerOnly)),
  textKey(clientCertSecret, 'global.tls.clientCertSecret.name', {
    in: MUTUAL_TLS,
    partly: () => 'agent-job gives the client certificate to controller and worker, not to the runner container that Terraform runs in.',
  }),
  ...flatCache(),
  always(cache, 'ephemeral', {in: '0.5.64'}),
  key(cacheSize, 'persistence.cache.emptyDir.sizeLimit', asQuantity, {in: '0.5.64'}),
  ...hostPathCache(claimCache({volume: 'persistence.cache', limit: 'persistence.cache.emptyDir.sizeLimit', in: '>=0.5.65'})),
  textKey(cachePath, 'persistence.cache.hostPath.path', {in: '>=0.6.2'}),
  textKey(dataHome, 'agent.dataDir'),
  key(dataSize, 'persistence.data.emptyDir.sizeLimit', asQuantity, {in: NESTED}),
  key(providerCache, 'agent.providerCache.enabled', asBoolean, {in: NESTED}),
  key(moduleCache, 'agent.moduleCache.enabled', asBoolean, {in: '>=0.5.65'}),
  ...only({in: NESTED}, runResources('task.runner.resources')),
  key(nodeSelector, 'task.nodeSelector', asTextMap, {in: NESTED}),
  key(controllerNodeSelector, 'controllerNodeSelector', asTextMap, {in: FLAT}),
  key(controllerNodeSelector, 'agent.nodeSelector', asTextMap, {in: NESTED}),
  key(toleration, 'task.tolerations', asTolerations, {in: NESTED}),
  key(controllerToleration, 'controllerTolerations', asTolerations, {in: FLAT}),
  key(controllerToleration, 'agent.tolerations', asTolerations, {in: NESTED}),
  ...only({in: FLAT}, serviceAccount(ownAccount)),
  ...only({in: NESTED}, serviceAccount()),
  textKey(imageRegistry, 'global.imageRegistry', {in: NESTED}),
  key(imagePullSecret, 'imagePullSecrets', asReferences, {in: FLAT}),
  key(imagePullSecret, 'global.imagePullSecrets', asReferences, {in: NESTED}),
  imageAt(agentImage, ['controller.image', 'worker.image'], FLAT),
  imageAt(agentImage, ['agent.image'], NESTED),
  imageAt(runnerImage, ['worker.runner.image'], FLAT),
  imageAt(runnerImage, ['task.runner.image'], NESTED),
  ...otel([
    key(otelEndpoint, 'otel.endpoint', asText),
    key(otelMetrics, 'otel.metricsEnabled', asBoolean),
    key(otelTraces, 'otel.tracesEnabled', asBoolean),
  ]),
  key(gracePeriod, 'task.terminationGracePeriodSeconds', asNumber, {
    in: '0.5.64 - 0.5.68',
    accepts: (period) => period >= 360,
    partly: () => 'Up to 0.5.68 the worker stops its run after 360 s whatever the grace period; 0.5.69 mends that.',
  }),
  key(gracePeriod, 'task.terminationGracePeriodSeconds', asNumber, {in: '>=0.5.69'}),
  ...only({in: FLAT}, [extraVariables([{path: 'extraEnv'}], CONTROLLER_ONLY)]),
  ...only({in: NESTED}, [
    extraVariables([{path: 'agent.extraEnv'}, {path: 'task.runner.extraEnv', takes: (name) => !name.startsWith('SCALR_AGENT_')}]),
  ]),
];

/** Up to 0.5.63: a claim, or EFS objects that no pod mounts unless the claim is named (templates/worker.yaml). */
function flatCache(): Row[] {
  const [plain, ...others] = claimCache({
    volume: 'persistence',
    in: FLAT,
    // templates/pvc.yaml reads secret.annotations, which values.yaml lacks, and crashes without it.
    withClaim: {
      paths: [at('secret.annotations')],
      write: ({get}) =>
        get(cache) === 'pvc' ? [[at('secret.annotations'), {}, 'The template of the claim reads this key and crashes without it']] : [],
    },
  }) as [Row<string>, ...Row[]];
  const claim = at('persistence.persistentVolumeClaim.claimName');
  const isEfs = (values: Values): boolean => asText.read(getAt(values, at('efsVolumeHandle')) ?? '') !== undefined;
  return [
    row({
      ...plain,
      accepts: (kind, scope) => kind === 'efs' || (plain.accepts?.(kind, scope) ?? true),
      paths: [...plain.paths, claim],
      write: (kind, scope) =>
        kind === 'efs'
          ? [
              [at('persistence.enabled'), true],
              [claim, 'agent-job-efs-claim'],
            ]
          : plain.write(kind, scope),
      read: (values, scope) => (isEfs(values) ? 'efs' : plain.read(values, scope)),
    }),
    textKey(efsHandle, 'efsVolumeHandle', {in: FLAT, partly: () => 'Only one release per cluster can use EFS in this way.'}),
    ...others,
  ];
}

/** From 0.6.2 on the cache may be a directory of the node. */
function hostPathCache([plain, ...others]: readonly Row[]): Row[] {
  const base = plain as Row<string>;
  return [
    row({
      ...base,
      accepts: (kind, scope) =>
        kind === 'hostpath' ? getAt(scope.defaults, CACHE_DIRECTORY) !== undefined : (base.accepts?.(kind, scope) ?? true),
      read: (values, scope) => (hasHostPath(values) ? 'hostpath' : base.read(values, scope)),
    }),
    ...others,
  ];
}
