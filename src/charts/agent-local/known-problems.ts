import {at, getAt, isOn, textAt} from '../../ground/tree.ts';
import {
  behavior,
  blocking,
  info,
  type KnownProblem,
  mutualTlsVanishes,
  ownVolumes,
  reuseValues,
} from '../shared/known-problem.ts';
import {METADATA_BELOW_AGENT, MUTUAL_TLS, SPLIT_PERSISTENCE} from './ranges.ts';
import {usesOldPersistence} from './versions.ts';

/** The chart itself could not be read: Scalr/agent-helm, release agent-local-0.7.0. */
const FROM_NOTES = 'According to the release notes of 0.7.0';

export const knownProblems: readonly KnownProblem[] = [
  behavior('VOLUME_SPLIT', ['<=0.5.63', '>=0.5.64'], {
    when: ({values}) => isOn(values, 'persistence.enabled'),
    whose: 'persistent volume',
    reason: 'Since 0.5.64, data and cache are two volumes, and the PVC contains only the cache',
    remedy: 'Nothing is deleted. Old data in the PVC is not used and can be removed',
  }),
  behavior('METADATA_BLOCKED', ['*', METADATA_BELOW_AGENT], {
    reason:
      'Runs cannot reach the metadata service (169.254.169.254) in 0.5.65 and 0.5.66, regardless of allowMetadataService',
    remedy: 'If runs use cloud credentials of the node, set agent.allowMetadataService: true',
  }),
  mutualTlsVanishes('agent.tls', MUTUAL_TLS, '0.5.75 - 0.5.76'),
  blocking('PVC_RENAMED', [SPLIT_PERSISTENCE, '0.5.75 - 0.5.76'], {
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
