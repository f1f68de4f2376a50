import type {Agent} from '../../diagnose/agent-log.ts';
import type {Diagnosis} from '../../diagnose/cause.ts';
import type {CacheUse} from '../../diagnose/log-matcher.ts';
import {differs, type ObjectDrift} from '../../diff/live-drift.ts';
import type {ReleaseName} from '../../ground/command-line.ts';
import type {Advice} from '../../ground/errors.ts';
import type {Tree} from '../../ground/tree.ts';
import type {GitOpsController} from '../../release/managers.ts';
import type {AccountStatus, ReleaseStatus} from '../../status/status.ts';
import type {ClusterStatus} from '../status-table.ts';

/** What `status --json` prints; see schemas/output/status.json. */
export interface StatusDocument {
  release: string;
  namespace: string;
  context: string;
  state: ReleaseStatus['state'];
  helm?: {status: string; revision: number; updated: string; description?: string};
  chart?: {name: string; version: string; agentVersion?: string; newestKnown: string; behind: number; standing: string};
  /** Absent if the purpose of the pool is unknown. */
  purpose?: 'vcs';
  /** What manages an agent that Helm has no record of. */
  managedBy?: string;
  /** The object of Argo CD or Flux that applies the agent. */
  controller?: Omit<GitOpsController, 'remedies'>;
  workloads: {object: string; state: string; ready: number; desired: number; text: string}[];
  causes: (Diagnosis & {permanent: boolean})[];
  agents: readonly Agent[];
  images: readonly string[];
  /** Objects of the release that are missing or changed in the cluster; `differs` is null where they could not be compared. */
  objects: {differs: boolean | null; verified: boolean; differences: readonly ObjectDrift[]};
  runs: {visible: boolean; inFlight: {kind: string; name: string; certain: boolean}[]};
  advice: readonly Advice[];
  /** Cache use of runs according to their logs; absent if the logs do not contain it. */
  cacheUse?: CacheUse;
  values?: {files: readonly string[]; differs: boolean | null; differences: readonly {path: string; installed?: Tree; file?: Tree}[]};
  unread: {what: string; code: string; reason: string; remedy: string}[];
  /** Absent without a token for the account, and with --no-account. */
  account?: AccountDocument;
}

/** What `status --contexts --json` prints. */
export interface ClustersDocument {
  clusters: {context: string; releases: StatusDocument[]; error?: {code: string; message: string; suggestions: readonly string[]}}[];
}

export const clustersDocument = (clusters: readonly ClusterStatus[]): ClustersDocument => ({
  clusters: clusters.map(({context, releases, failure}) => ({
    context,
    releases: releases.map(({name, status}) => statusDocument(name, status, [])),
    ...(failure && {error: {code: failure.code, message: failure.message, suggestions: failure.suggestions}}),
  })),
});

interface AccountDocument {
  host: string;
  pool: {id: string; name: string; inUse: boolean} | null;
  agents: {pod: string; id: string | null; status: string; version: string | null; lastSeen: string | null; error: string | null}[];
  withoutPod: string[];
}

export function statusDocument({release, kubeTarget}: ReleaseName, status: ReleaseStatus, files: readonly string[]): StatusDocument {
  const {revision, chart, runs, drift} = status;
  return {
    release,
    namespace: kubeTarget.namespace,
    context: status.context,
    state: status.state,
    ...(revision ? {helm: helmOf(revision)} : {}),
    ...(status.managedBy === undefined ? {} : {managedBy: status.managedBy}),
    ...(status.controller ? {controller: controllerOf(status.controller)} : {}),
    ...(chart ? {chart: chartOf(chart)} : {}),
    ...(status.purpose ? {purpose: status.purpose} : {}),
    workloads: status.workloads.map(({object, state, ready, desired, text}) => ({object, state, ready, desired, text})),
    causes: status.causes.map(({isPermanent, ...cause}) => ({...cause, permanent: isPermanent})),
    agents: status.agents,
    images: status.images,
    objects: {
      differs: status.objects ? status.objects.some(differs) : null,
      verified: status.isVerified,
      differences: status.objects ?? [],
    },
    runs: {visible: runs !== undefined, inFlight: (runs ?? []).map(({kind, name, isCertain}) => ({kind, name, certain: isCertain}))},
    advice: status.advice,
    ...(status.cacheUse ? {cacheUse: status.cacheUse} : {}),
    ...(files.length === 0
      ? {}
      : {values: {files, differs: drift ? drift.differences.length > 0 : null, differences: drift?.differences ?? []}}),
    unread: status.unread.map(({object: what, code, reason, remedy}) => ({what, code, reason, remedy})),
    ...(status.account ? {account: accountOf(status.account)} : {}),
  };
}

const accountOf = ({host, pool, isUnused, agents, withoutPod}: AccountStatus): AccountDocument => ({
  host,
  pool: pool === undefined ? null : {id: pool.id, name: pool.name, inUse: isUnused === undefined ? pool.isInUse : !isUnused},
  agents: agents.map(({pod, agent}) => ({
    ...{pod, id: agent?.id ?? null, status: agent?.status ?? 'unknown', version: agent?.version ?? null},
    ...{lastSeen: agent?.lastSeen ?? null, error: agent?.error ?? null},
  })),
  withoutPod: withoutPod.map(({name}) => name),
});

const controllerOf = ({remedies: _, ...controller}: GitOpsController): NonNullable<StatusDocument['controller']> => controller;

const helmOf = ({status, revision, updated, description}: NonNullable<ReleaseStatus['revision']>): NonNullable<StatusDocument['helm']> => ({
  status,
  revision,
  updated,
  ...(description ? {description} : {}),
});

const chartOf = ({agentVersion, ...chart}: NonNullable<ReleaseStatus['chart']>): NonNullable<StatusDocument['chart']> => ({
  ...chart,
  ...(agentVersion ? {agentVersion} : {}),
});
