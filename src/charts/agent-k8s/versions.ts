import {textAt} from '../../ground/tree.ts';
import {agentImage, runnerImage} from '../../settings/images.ts';
import type {Chart} from '../shared/chart.ts';
import {variablesIn} from '../shared/chart.ts';
import {annotationsWithoutAccount, mountOptionsWithoutEfs} from '../shared/ignored-keys.ts';

/** From 0.5.67 on runs may execute in one golden image. */
export const GOLDEN = '>=0.5.67';

/** Environment variables that the templates of agent-k8s set themselves or refuse (rendered from every release). */
export const ownVariables = variablesIn({
  '*': `SCALR_URL SCALR_AGENT_TOKEN SCALR_AGENT_NAME SCALR_AGENT_KUBERNETES_MODE SCALR_AGENT_KUBERNETES_EFS_CLAIM_NAME
    SCALR_AGENT_DATA_DIR SCALR_AGENT_LOG_FORMAT SCALR_AGENT_DEBUG SCALR_AGENT_WORKER_ON_STOP_ACTION
    SCALR_AGENT_WORKER_DRAIN_TIMEOUT SCALR_AGENT_WORKER_GRACE_SHUTDOWN_TIMEOUT SCALR_AGENT_DISCONNECT_ON_STOP SCALR_AGENT_CA_CERT
    SCALR_AGENT_CONTAINER_TASK_SCHEDULING_TIMEOUT SCALR_AGENT_CONTAINER_TASK_ACQUIRE_TIMEOUT
    SCALR_AGENT_CONTAINER_TASK_CPU_REQUEST SCALR_AGENT_CONTAINER_TASK_CPU_LIMIT SCALR_AGENT_CONTAINER_TASK_MEM_REQUEST
    SCALR_AGENT_CONTAINER_TASK_MEM_LIMIT SCALR_AGENT_CONTAINER_TASK_CA_CERT SCALR_AGENT_CONTAINER_TASK_IMAGE_REGISTRY
    SCALR_AGENT_PROVIDER_CACHE_SIZE_LIMIT_MB SCALR_AGENT_KUBERNETES_AUTOMOUNT_SERVICE_ACCOUNT_TOKEN
    SCALR_AGENT_KUBERNETES_TASK_LABELS SCALR_AGENT_KUBERNETES_TASK_ANNOTATIONS SCALR_AGENT_KUBERNETES_TASK_NODE_SELECTOR
    SCALR_AGENT_KUBERNETES_TASK_TOLERATIONS`,
  '>=0.5.66': 'SCALR_AGENT_CONTAINER_TASK_IMAGE',
  [GOLDEN]: 'SCALR_AGENT_CONTAINER_TASK_IMAGE_MODE',
});

const RUN_IMAGE = {
  used: 'run',
  setting: runnerImage,
  reference: 'agent.container_task_image',
};

/** Outside golden mode, the agent selects the images of runs. */
export const images: Chart['images'] = [
  {used: 'controller', setting: agentImage, maps: ['image']},
  {used: 'worker', setting: agentImage, maps: ['image']},
  {...RUN_IMAGE, in: '0.5.66'},
  {
    ...RUN_IMAGE,
    in: GOLDEN,
    when: (values) => textAt(values, 'agent.container_task_image_mode') === 'golden',
  },
];

export const ignoredKeys: Chart['ignoredKeys'] = [
  annotationsWithoutAccount,
  {path: 'serviceAccount.labels', because: 'no template reads it'},
  mountOptionsWithoutEfs,
];

export const kubernetesFloors: Chart['kubernetesFloors'] = [
  {
    in: GOLDEN,
    version: '1.29',
    isHard: false,
    because: 'documented in the chart README, but not enforced',
  },
];
