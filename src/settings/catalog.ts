import {agentSettings} from './agent.ts';
import {chartValueSettings} from './chart-values.ts';
import {clusterSettings} from './cluster.ts';
import type {Setting} from './define.ts';
import {identitySettings} from './identity.ts';
import {imageSettings} from './images.ts';
import {lifecycleSettings} from './lifecycle.ts';
import {networkSettings} from './network.ts';
import {observabilitySettings} from './observability.ts';
import {placementSettings} from './placement.ts';
import {purposeSettings} from './purpose.ts';
import {releaseSettings} from './release.ts';
import {sizeSettings} from './size.ts';
import {storageSettings} from './storage.ts';
import {tlsSettings} from './tls.ts';

/** Every setting by group, in the order of prompts and help. */
export const catalog: readonly Setting[] = [
  ...releaseSettings,
  ...agentSettings,
  ...purposeSettings,
  ...clusterSettings,
  ...networkSettings,
  ...tlsSettings,
  ...storageSettings,
  ...sizeSettings,
  ...placementSettings,
  ...identitySettings,
  ...imageSettings,
  ...observabilitySettings,
  ...lifecycleSettings,
  ...chartValueSettings,
];
