import type {Case} from '../claims.ts';
import {agentCases} from './agent.ts';
import {extraCases} from './extras.ts';
import {imageCases} from './images.ts';
import {lifecycleCases} from './lifecycle.ts';
import {networkCases} from './network.ts';
import {storageCases} from './storage.ts';
import {tlsCases} from './tls.ts';
import {togetherCases} from './together.ts';
import {workloadCases} from './workload.ts';

/** Cases for all settings, alone and combined. */
export const cases: readonly Case[] = [
  ...agentCases,
  ...networkCases,
  ...tlsCases,
  ...storageCases,
  ...workloadCases,
  ...imageCases,
  ...lifecycleCases,
  ...extraCases,
  ...togetherCases,
];
