import {isOn, textAt} from '../../ground/tree.ts';
import type {UpgradeHazard} from '../define.ts';
import {behavior, blocking, info, mutualTlsVanishes, reuseValues} from '../shared-versions.ts';
import {usesOldPersistence} from './versions.ts';

/** docs/charts/upgrades.md is generated from these rows. */
export const hazards: readonly UpgradeHazard[] = [
  behavior('VOLUME_SPLIT', ['<=0.5.63', '>=0.5.64'], {
    when: ({values}) => isOn(values, 'persistence.enabled'),
    whose: 'persistent volume',
    reason: 'Data and cache are two volumes since 0.5.64, and the PVC holds only the cache',
    remedy: 'Nothing is deleted. Old data in the PVC is not used and can be removed',
  }),
  behavior('METADATA_BLOCKED', ['*', '0.5.65 - 0.5.66'], {
    reason: 'Runs cannot reach the metadata service (169.254.169.254) in 0.5.65 and 0.5.66, whatever allowMetadataService is',
    remedy: 'If runs use cloud credentials of the node, set agent.allowMetadataService: true',
  }),
  ...mutualTlsVanishes('agent.tls', '0.5.73 - 0.5.74 || >=0.6.1', '0.5.75 - 0.5.76'),
  blocking('PVC_RENAMED', ['0.5.74 || >=0.6.1', '0.5.75 - 0.5.76'], {
    when: ({values}) =>
      ['cache', 'data'].some(
        (volume) =>
          isOn(values, `persistence.${volume}.enabled`) &&
          textAt(values, `persistence.${volume}.persistentVolumeClaim.claimName`) === '' &&
          !(volume === 'cache' && usesOldPersistence(values)),
      ),
    whose: 'PVC of the chart',
    reason: 'These versions were released from an older branch without persistence.cache and persistence.data, and Helm deletes their PVCs',
    remedy: 'Use 0.6.1 or later; otherwise annotate the PVC with helm.sh/resource-policy=keep, and set claimName to its name',
    isHandled: true,
  }),
  info('PVC_RENAMED', ['<=0.5.73 || 0.5.75 - 0.5.76', '>=0.6.1'], {
    when: ({values}) => isOn(values, 'persistence.enabled') && textAt(values, 'persistence.persistentVolumeClaim.claimName') === '',
    whose: 'PVC of the chart',
    reason: 'persistence.cache replaces persistence since 0.6.1. With the new key, the PVC has a new name and Helm deletes the old one',
    remedy: 'Keep the old keys',
    isHandled: true,
  }),
  behavior('IMAGE_CHANGED', ['<=0.5.76', '>=0.6.1'], {
    when: ({values}) => textAt(values, 'image.repository') === 'scalr/agent-runner',
    whose: 'default image',
    reason: 'The default image changes from scalr/agent-runner to scalr/agent since 0.6.1, without aws, gcloud, az and kubectl',
    remedy: 'If runs use these tools, set image.repository: scalr/agent-runner',
  }),
  reuseValues('<=0.5.76', '>=0.6.1'),
];
