import type {Target} from '../../../src/charts/define.ts';
import {type Case, type Claim, EVERY_CHART, isTaken, settingsOf} from '../claims.ts';
import type {Rendered} from '../render.ts';
import {agentCases} from './agent.ts';
import {claimCase, existingClaimCase} from './cache.ts';
import {agentImageCase, mirrorCase, pullPolicyCase, pullSecretCase, runnerImageCase} from './images.ts';
import {drainCase, gracefulCase, jobTtlCase, timeoutCase, writableRootCase} from './lifecycle.ts';
import {azureCase, blockCase, proxyCase} from './network.ts';
import {cacheLimitCase, dataSizeCase, efsCase, ephemeralCase, moduleCacheCase, nodeCase, providerCacheCase} from './storage.ts';
import {caFileCase, caSecretCase, clientCertCase} from './tls.ts';
import {accountCase, annotationCase, controllerResourcesCase, labelCase, placementCases, resourcesCase} from './workload.ts';

/** Several cases in one release: each of them still has to hold. Parts the version cannot take are left out. */
function together(name: string, parts: readonly Case[]): Case {
  const taken = (target: Target): Case[] => parts.filter((part) => isTaken(part, target));
  return {
    name: `everything at once: ${name}`,
    settings: (target) => Object.assign({}, ...taken(target).map((part) => settingsOf(part, target))),
    takenBy: EVERY_CHART,
    check: (rendered: Rendered): Claim[] => taken(rendered.target).flatMap((part) => part.check(rendered)),
  };
}

const named = (...names: string[]): Case[] => names.map((name) => agentCases.find((each) => each.name.startsWith(name)) as Case);

const OFTEN = [
  proxyCase,
  ...placementCases,
  annotationCase,
  labelCase,
  resourcesCase,
  controllerResourcesCase,
  pullPolicyCase,
  pullSecretCase,
  clientCertCase,
  providerCacheCase,
  cacheLimitCase,
  moduleCacheCase,
  timeoutCase,
  jobTtlCase,
];

export const togetherCases: readonly Case[] = [
  together('a claim, certificates from a file, draining', [
    ...OFTEN,
    ...named('debug', 'plain', 'extra', 'variables for', 'the token'),
    caFileCase,
    blockCase,
    claimCase,
    dataSizeCase,
    drainCase,
    accountCase,
    agentImageCase,
    runnerImageCase,
  ]),
  together('an existing claim, certificates from a Secret, a mirror', [
    ...OFTEN,
    ...named('data in', 'another release', 'three runs', 'a mirror of providers', 'traces'),
    caSecretCase,
    azureCase,
    existingClaimCase,
    writableRootCase,
    gracefulCase,
    mirrorCase,
  ]),
  together('the disks of the nodes', [...OFTEN, ...named('debug', 'the token'), caFileCase, nodeCase, dataSizeCase, drainCase]),
  together('a file system or an ephemeral cache', [...OFTEN, caFileCase, efsCase, ephemeralCase, accountCase, blockCase]),
];
