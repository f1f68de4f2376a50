import type {Target} from '../../../../src/charts/releases/target.ts';
import {type Case, type Claim, EVERY_CHART, isTaken, settingsOf} from '../claims.ts';
import type {Rendered} from '../render.ts';
import {agentCases} from './agent.ts';
import {claimCase, existingClaimCase, persistentCaches} from './cache.ts';
import {
  agentImageCase,
  mirrorCase,
  pullPolicyCase,
  pullSecretCase,
  runnerImageCase,
} from './images.ts';
import {drainCase, gracefulCase, jobTtlCase, timeoutCase, writableRootCase} from './lifecycle.ts';
import {azureCase, blockCase, proxyCase} from './network.ts';
import {
  cacheLimitCase,
  dataSizeCase,
  efsCase,
  ephemeralCase,
  moduleCacheCase,
  nodeCase,
  providerCacheCase,
} from './storage.ts';
import {caFileCase, caSecretCase, clientCertCase} from './tls.ts';
import {
  accountCase,
  annotationCase,
  controllerResourcesCase,
  labelCase,
  placementCases,
  resourcesCase,
} from './workload.ts';

/** Several cases in one release, each of which must hold. Skips parts that the version does not support. */
function together(name: string, parts: readonly Case[]): Case {
  const taken = (target: Target): Case[] => parts.filter((part) => isTaken(part, target));
  return {
    name: `everything at once: ${name}`,
    settings: (target) =>
      Object.assign({}, ...taken(target).map((part) => settingsOf(part, target))),
    takenBy: EVERY_CHART,
    check: (rendered: Rendered): Claim[] =>
      taken(rendered.target).flatMap((part) => part.check(rendered)),
  };
}

const named = (...names: string[]): Case[] =>
  names.map((name) => agentCases.find((each) => each.name.startsWith(name)) as Case);

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
  ...persistentCaches,
  together('a claim, certificates from a file, draining', [
    ...named('debug', 'plain', 'extra', 'variables for', 'the token'),
    caFileCase,
    blockCase,
    claimCase,
    dataSizeCase,
    drainCase,
    accountCase,
    agentImageCase,
    runnerImageCase,
    ...OFTEN,
  ]),
  together('an existing claim, certificates from a Secret, a mirror', [
    ...named('data in', 'another release', 'three runs', 'a mirror of providers', 'traces'),
    caSecretCase,
    azureCase,
    existingClaimCase,
    writableRootCase,
    gracefulCase,
    mirrorCase,
    ...OFTEN,
  ]),
  together('the disks of the nodes', [
    ...named('debug', 'the token'),
    caFileCase,
    nodeCase,
    dataSizeCase,
    drainCase,
    ...OFTEN,
  ]),
  together('a file system or an ephemeral cache', [
    ...OFTEN,
    caFileCase,
    efsCase,
    ephemeralCase,
    accountCase,
    blockCase,
  ]),
];
