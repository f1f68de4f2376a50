import {at, getAt, textAt} from '../../ground/tree.ts';
import {
  behavior,
  blocking,
  type KnownProblem,
  type KnownProblemFacts,
  mutualTlsVanishes,
  ownVolumes,
  reuseValues,
} from '../shared/known-problem.ts';
import {
  ENTRYPOINT_DOWNLOAD,
  FIXED_SHUTDOWN,
  FLAT,
  JOB_TEMPLATE,
  MUTUAL_TLS,
  NESTED,
  NO_CONTROLLER_BUDGET,
  NO_GLOBAL_LABELS,
  TASK_TEMPLATES,
} from './ranges.ts';

const BEFORE_TEMPLATES = '<=0.5.67';

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

export const knownProblems: readonly KnownProblem[] = [
  blocking('KEYS_RENAMED', [FLAT, NESTED], {
    reason: 'Since 0.5.64, almost every values key has a new name',
    remedy: 'Migrate the values',
    isHandled: true,
  }),
  renamedDefinition(FLAT, JOB_TEMPLATE, 'atasks.scalr.io'),
  renamedDefinition(BEFORE_TEMPLATES, TASK_TEMPLATES, 'agenttasktemplates.scalr.io'),
  renamedClaim(FLAT, JOB_TEMPLATE),
  renamedClaim(BEFORE_TEMPLATES, TASK_TEMPLATES),
  blocking('SELECTOR_CHANGED', [JOB_TEMPLATE, TASK_TEMPLATES], {
    when: isDeploymentKept,
    whose: 'release `scalr-agent`',
    reason:
      'In a release named scalr-agent, the selector of its Deployment changes, which Kubernetes rejects (field is immutable)',
    remedy: 'Delete the Deployment before the upgrade, after its runs have ended',
    isHandled: true,
  }),
  runsLoseTemplate(FLAT, JOB_TEMPLATE),
  runsLoseTemplate(BEFORE_TEMPLATES, TASK_TEMPLATES),
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
  behavior('ENTRYPOINT_DOWNLOADED', ['<=0.5.66 || >=0.5.69', ENTRYPOINT_DOWNLOAD], {
    reason: 'Every run downloads its entrypoint from storage.googleapis.com in 0.5.67 and 0.5.68',
    remedy: 'Allow this egress, or use 0.5.69 or later',
  }),
  behavior('GRACE_PERIOD_APPLIES', [FIXED_SHUTDOWN, '>=0.5.69'], {
    when: ({values}) =>
      ['agent', 'task'].some(
        (key) => getAt(values, at(`${key}.terminationGracePeriodSeconds`)) !== DEFAULT_GRACE[key],
      ),
    whose: 'changed grace periods',
    reason:
      'Since 0.5.69, the agent stops runs after the grace period of the pod. Before, it stopped them after 180 s or 360 s',
    remedy: 'Check agent.terminationGracePeriodSeconds and task.terminationGracePeriodSeconds',
  }),
  mutualTlsVanishes('global.tls', MUTUAL_TLS, '0.5.78 - 0.5.79'),
  blocking('LABELS_UNUSABLE', ['*', NO_GLOBAL_LABELS], {
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
  behavior('PDB_NOT_RENDERED', ['*', NO_CONTROLLER_BUDGET], {
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
