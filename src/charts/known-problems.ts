import {at, getAt, isOn, textAt, type Values} from '../ground/tree.ts';
import {FLAT, NESTED} from './agent-job/versions.ts';
import {GOLDEN} from './agent-k8s/versions.ts';
import {usesOldPersistence} from './agent-local/versions.ts';
import type {KnownProblem, KnownProblemFacts, Target} from './define.ts';
import type {ChartName} from './schema.ts';
import {WITHDRAWN} from './target.ts';

type Effect = Omit<KnownProblem, 'code' | 'level' | 'from' | 'to'>;

const problem =
  (level: KnownProblem['level']) =>
  (
    code: string,
    [from, to]: readonly [from: string, to: string],
    effect: Effect,
  ): KnownProblem => ({code, level, from, to, ...effect});

const blocking = problem('blocking');
const behavior = problem('behavior');
const info = problem('info');

/** `--reuse-values` passes the defaults of the old version, which lack the keys of the new one. */
const reuseValues = (from: string, to: string): KnownProblem =>
  info('REUSE_VALUES', [from, to], {
    reason:
      'The Helm flag --reuse-values fails or leaves new keys empty, because it passes the defaults of the old version',
    remedy: 'Pass all values, or use --reset-then-reuse-values',
    isHandled: true,
  });

/** Some versions were released from an older branch, without client certificates. */
const mutualTlsVanishes = (key: string, from: string, to: string): KnownProblem =>
  blocking('CLIENT_CERTIFICATE_IGNORED', [from, to], {
    when: ({values}) =>
      textAt(values, `${key}.clientCertSecret.name`) !== '' ||
      textAt(values, `${key}.clientCert`) !== '',
    whose: 'client certificates',
    reason: 'This version was released from an older branch, and ignores client certificates',
    remedy: 'Use 0.6.1 or later',
  });

/** `AgentTaskTemplate`, and names after the release. */
const TEMPLATES = '>=0.5.68';
const BEFORE_TEMPLATES = '<=0.5.67';

/** The volumes whose PVC the chart creates. */
const ownVolumes = (values: Values): string[] =>
  ['persistence', 'persistence.cache', 'persistence.data'].filter(
    (key) =>
      isOn(values, `${key}.enabled`) &&
      textAt(values, `${key}.persistentVolumeClaim.claimName`) === '',
  );

/** Up to 0.5.67 the Deployment is always called scalr-agent; since then it has the full name of the release. */
function isDeploymentKept({release, values}: KnownProblemFacts): boolean {
  const base = textAt(values, 'nameOverride') || 'scalr-agent';
  const name =
    textAt(values, 'fullnameOverride') || (release.includes(base) ? release : `${release}-${base}`);
  return name === 'scalr-agent';
}

const AGENT_IMAGES = [
  'agent.image.repository',
  'controller.image.repository',
  'worker.image.repository',
];

/** 0.5.59 to 0.5.63 have it below worker. */
const hasDefaultRunner = ({values}: KnownProblemFacts): boolean =>
  ['task', 'worker'].some(
    (key) => textAt(values, `${key}.runner.image.repository`) === 'scalr/agent-runner',
  );

const renamedDefinition = (from: string, to: string, name: string): KnownProblem =>
  blocking('CRD_RENAMED', [from, to], {
    reason: `The chart needs CRD ${name}, which helm upgrade does not install`,
    remedy: 'Apply the CRDs of the new chart before the upgrade, and delete the old ones after it',
    isHandled: true,
  });

const renamedClaim = (from: string, to: string): KnownProblem =>
  blocking('PVC_RENAMED', [from, to], {
    when: ({values}) => ownVolumes(values).length > 0,
    whose: 'PVC of the chart',
    reason: 'The PVC has a new name, and Helm deletes the old one with its data',
    remedy: 'Annotate the old PVC with helm.sh/resource-policy=keep, and set claimName to its name',
    isHandled: true,
  });

const runsLoseTemplate = (from: string, to: string): KnownProblem =>
  behavior('RUNS_LOSE_TEMPLATE', [from, to], {
    reason: 'Helm deletes the task template and the service account that runs in flight use',
    remedy: 'Wait until no run is in flight',
    isHandled: true,
  });

const job: readonly KnownProblem[] = [
  blocking('KEYS_RENAMED', [FLAT, NESTED], {
    reason: 'Since 0.5.64, almost every values key has a new name',
    remedy: 'Migrate the values',
    isHandled: true,
  }),
  renamedDefinition(FLAT, '0.5.64 - 0.5.67', 'atasks.scalr.io'),
  renamedDefinition(BEFORE_TEMPLATES, TEMPLATES, 'agenttasktemplates.scalr.io'),
  renamedClaim(FLAT, '0.5.64 - 0.5.67'),
  renamedClaim(BEFORE_TEMPLATES, TEMPLATES),
  blocking('SELECTOR_CHANGED', ['0.5.64 - 0.5.67', TEMPLATES], {
    when: isDeploymentKept,
    whose: 'release `scalr-agent`',
    reason:
      'In a release with that name, the selector of Deployment scalr-agent changes, which Kubernetes rejects (field is immutable)',
    remedy: 'Delete the Deployment before the upgrade, after its runs have ended',
    isHandled: true,
  }),
  runsLoseTemplate(FLAT, '0.5.64 - 0.5.67'),
  runsLoseTemplate(BEFORE_TEMPLATES, TEMPLATES),
  blocking('EFS_REMOVED', [FLAT, NESTED], {
    when: ({values}) => textAt(values, 'efsVolumeHandle') !== '',
    whose: '`efsVolumeHandle`',
    reason: 'Since 0.5.64, the chart no longer creates the EFS volume and its PVC',
    remedy:
      'Create a PersistentVolume and a PVC for the file system, and set persistence.cache.persistentVolumeClaim.claimName',
  }),
  behavior('METADATA_BLOCKED', [FLAT, NESTED], {
    reason: 'Since 0.5.64, runs cannot reach the metadata service (169.254.169.254) by default',
    remedy: 'If runs use cloud credentials of the node, set task.allowMetadataService: true',
  }),
  behavior('RUNNER_IMAGE_CHANGED', ['<=0.5.66', '>=0.5.67'], {
    when: hasDefaultRunner,
    whose: 'default runner image',
    reason: 'Since 0.5.67, the default runner image is scalr/runner instead of scalr/agent-runner',
    remedy:
      'Check that scalr/runner contains the tools that your runs use, or set task.runner.image',
  }),
  behavior('ENTRYPOINT_DOWNLOADED', ['<=0.5.66 || >=0.5.69', '0.5.67 - 0.5.68'], {
    reason: 'Every run downloads its entrypoint from storage.googleapis.com in 0.5.67 and 0.5.68',
    remedy: 'Allow this egress, or use 0.5.69 or later',
  }),
  behavior('GRACE_PERIOD_APPLIES', ['0.5.64 - 0.5.68', '>=0.5.69'], {
    when: ({values}) =>
      ['agent', 'task'].some(
        (key) => getAt(values, at(`${key}.terminationGracePeriodSeconds`)) !== DEFAULT_GRACE[key],
      ),
    whose: 'changed grace periods',
    reason:
      'Since 0.5.69, the agent stops runs after the grace period of the pod. Before, it stopped them after 180 s or 360 s',
    remedy: 'Check agent.terminationGracePeriodSeconds and task.terminationGracePeriodSeconds',
  }),
  mutualTlsVanishes('global.tls', '0.5.76 - 0.5.77 || >=0.6.1', '0.5.78 - 0.5.79'),
  blocking('LABELS_UNUSABLE', ['*', '0.5.68 - 0.5.76 || 0.5.78 - 0.5.79'], {
    when: ({values}) => Object.keys(getAt(values, at('global.labels')) ?? {}).length > 0,
    whose: '`global.labels`',
    reason: 'global.labels breaks the templates of this version',
    remedy: 'Use 0.6.1 or later, or remove global.labels',
  }),
  behavior('RUNS_BLOCK_DRAINS', ['<=0.5.79', '>=0.6.1'], {
    reason:
      'Since 0.6.1, a PodDisruptionBudget protects run pods, so a node drain waits until runs have ended',
    remedy: 'To allow evictions, set task.podDisruptionBudget.enabled: false',
  }),
  behavior('PDB_NOT_RENDERED', ['*', '0.6.1 - 0.6.3'], {
    when: ({values}) => Number(getAt(values, at('agent.replicaCount')) ?? 1) > 1,
    whose: 'several replicas',
    reason: 'The PodDisruptionBudget of the controller is lost in 0.6.1 to 0.6.3',
    remedy: 'Use 0.6.4 or later',
  }),
  behavior('ENTRYPOINT_CHANGED', ['<=0.6.1', '>=0.6.2'], {
    when: ({values}) =>
      AGENT_IMAGES.some((key) => !['', 'scalr/agent'].includes(textAt(values, key))),
    whose: 'custom agent images',
    reason: 'Since 0.6.2, pods use the entrypoint of the image instead of a fixed command',
    remedy:
      'Check the entrypoint of your image, or set agent.controller.command and task.worker.command',
  }),
  behavior('RUNS_RETRIED', ['<=0.6.3', '>=0.6.4'], {
    reason: 'Since 0.6.4, Kubernetes starts a failed run pod a second time',
    remedy: 'To keep the former behavior, set task.job.backoffLimit: 0',
  }),
  reuseValues('<=0.6.1', '>=0.6.2'),
];

const DEFAULT_GRACE: Readonly<Record<string, number>> = {agent: 180, task: 360};

/** The chart itself could not be read: Scalr/agent-helm, release agent-local-0.7.0. */
const FROM_NOTES = 'According to the release notes of 0.7.0';

const local: readonly KnownProblem[] = [
  behavior('VOLUME_SPLIT', ['<=0.5.63', '>=0.5.64'], {
    when: ({values}) => isOn(values, 'persistence.enabled'),
    whose: 'persistent volume',
    reason: 'Since 0.5.64, data and cache are two volumes, and the PVC contains only the cache',
    remedy: 'Nothing is deleted. Old data in the PVC is not used and can be removed',
  }),
  behavior('METADATA_BLOCKED', ['*', '0.5.65 - 0.5.66'], {
    reason:
      'Runs cannot reach the metadata service (169.254.169.254) in 0.5.65 and 0.5.66, regardless of allowMetadataService',
    remedy: 'If runs use cloud credentials of the node, set agent.allowMetadataService: true',
  }),
  mutualTlsVanishes('agent.tls', '0.5.73 - 0.5.74 || >=0.6.1', '0.5.75 - 0.5.76'),
  blocking('PVC_RENAMED', ['0.5.74 || >=0.6.1', '0.5.75 - 0.5.76'], {
    when: ({values}) =>
      ownVolumes(values).some(
        (volume) =>
          volume === 'persistence.data' ||
          (volume === 'persistence.cache' && !usesOldPersistence(values)),
      ),
    whose: 'PVC of the chart',
    reason:
      'These versions were released from an older branch without persistence.cache and persistence.data, and Helm deletes their PVCs',
    remedy:
      'Use 0.6.1 or later; otherwise annotate the PVC with helm.sh/resource-policy=keep, and set claimName to its name',
    isHandled: true,
  }),
  info('PVC_RENAMED', ['<=0.5.73 || 0.5.75 - 0.5.76', '>=0.6.1'], {
    when: ({values}) => ownVolumes(values).includes('persistence'),
    whose: 'PVC of the chart',
    reason:
      'Since 0.6.1, persistence.cache replaces persistence. With the new key, the PVC has a new name and Helm deletes the old one',
    remedy: 'Keep the old keys',
    isHandled: true,
  }),
  behavior('IMAGE_CHANGED', ['<=0.5.76', '>=0.6.1'], {
    when: ({values}) => textAt(values, 'image.repository') === 'scalr/agent-runner',
    whose: 'default image',
    reason:
      'Since 0.6.1, the default image is scalr/agent instead of scalr/agent-runner, without aws, gcloud, az and kubectl',
    remedy: 'If runs use these tools, set image.repository: scalr/agent-runner',
  }),
  reuseValues('<=0.5.76', '>=0.6.1'),
  blocking('KEYS_REMOVED', ['<0.7.0', '>=0.7.0'], {
    when: ({values}) => usesOldPersistence(values),
    whose: '`persistence.enabled` or its PVC',
    reason: `${FROM_NOTES}, persistence.enabled and persistence.persistentVolumeClaim are removed, and an empty PVC replaces the one of the chart`,
    remedy:
      'Move the keys below persistence.cache before the upgrade, and set claimName to keep the PVC',
  }),
  blocking('PVC_NOT_SHARED', ['<0.7.0', '>=0.7.0'], {
    when: ({values}) =>
      Number(getAt(values, at('replicaCount')) ?? 1) > 1 &&
      ownVolumes(values).some(
        (volume) =>
          textAt(values, `${volume}.persistentVolumeClaim.accessMode`) === 'ReadWriteOncePod',
      ),
    whose: 'several replicas with a ReadWriteOncePod PVC',
    reason: `${FROM_NOTES}, several replicas are rejected if they share a ReadWriteOncePod PVC of the chart`,
    remedy:
      'Use one replica, ReadWriteMany, or storage per pod (persistence.cache.mode and persistence.data.mode)',
  }),
];

const k8s: readonly KnownProblem[] = [
  info('LIMITS_REMOVED', ['<=0.5.65', '>=0.5.66'], {
    reason: 'Since 0.5.66, controller and workers have no CPU and memory limits by default',
    remedy: 'If a ResourceQuota requires limits, set resources.limits',
  }),
  behavior('REGISTRY_LEGACY_ONLY', ['<=0.5.66', GOLDEN], {
    when: ({values}) => textAt(values, 'agent.container_task_image_registry') !== '',
    whose: '`agent.container_task_image_registry`',
    reason:
      'Since 0.5.67, agent.container_task_image_registry applies only with agent.container_task_image_mode: legacy',
    remedy: 'For golden images, write the registry into agent.container_task_image',
  }),
  reuseValues('<=0.5.66', GOLDEN),
];

/** Versions that no agent can use: 0.5.63 kills runs that exceed 30Mi. */
const BROKEN: Readonly<Partial<Record<ChartName, readonly string[]>>> = {'agent-job': ['0.5.63']};

/** True for a version that is never suggested. */
export const isBroken = ({chart, version}: Pick<Target, 'chart' | 'version'>): boolean =>
  [BROKEN[chart], WITHDRAWN[chart]].some((versions) => versions?.includes(version) === true);

/** Apart from the other properties of a chart, because only upgrades need them. docs/charts/upgrades.md is generated from these rows. */
export const KNOWN_PROBLEMS: Readonly<Record<ChartName, readonly KnownProblem[]>> = {
  'agent-k8s': k8s,
  'agent-local': local,
  'agent-job': job,
};
