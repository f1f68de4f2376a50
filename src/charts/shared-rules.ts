import {cloud} from '../settings/cluster.ts';
import type {Get, Setting} from '../settings/define.ts';
import {extraEnv, set} from '../settings/escape-hatch.ts';
import {metadataService, workloadIdentity} from '../settings/network.ts';
import {
  gracePeriod,
  runCpuLimit,
  runCpuRequest,
  runMemoryLimit,
  runMemoryRequest,
  serviceAccountAnnotation,
  serviceAccountName,
  shutdownMode,
} from '../settings/pods.ts';
import {exceeds} from '../settings/quantity.ts';
import {cache, cacheAccessMode, cacheStorageClass} from '../settings/storage.ts';
import {policyEnforcement, sharedVolumeAdvice} from './clouds.ts';
import type {ChartRule} from './define.ts';
import {VARIABLES_OF_SETTINGS} from './rows/extra-variables.ts';
import {at, getAt, isMap, type Tree} from './tree.ts';

const requestWithinLimit = (request: Setting<string>, limit: Setting<string>): ChartRule => ({
  id: 'R40',
  code: 'REQUEST_ABOVE_LIMIT',
  severity: 'error',
  test: (get, {isExplicit}) => {
    const [least, most] = [get(request), get(limit)];
    if (least === undefined || most === undefined || !exceeds(least, most)) return undefined;
    return {
      setting: request,
      message: `--${request.id} ${least} is more than --${limit.id} ${most}; Kubernetes refuses such a pod`,
      suggestion: isExplicit(request) ? `Use --${limit.id} ${least} or more` : `Add --${request.id} ${most} or less`,
    };
  },
});

/** The shortest time that each shutdown mode can work with, in seconds; `usual` is the mode of the chart itself. */
export const shortestGrace = (id: string, usual: string, shortest: Readonly<Record<string, number>>): ChartRule => ({
  id,
  code: 'GRACE_PERIOD_TOO_SHORT',
  severity: 'error',
  test: (get) => {
    const mode = get(shutdownMode) ?? usual;
    const least = shortest[mode] as number;
    const period = get(gracePeriod) ?? least;
    if (period >= least) return undefined;
    return {
      setting: gracePeriod,
      message: `a grace period of ${period} s is too short for the shutdown mode ${mode}, which needs ${least} s`,
      suggestion: `Use --grace-period ${least} or more`,
    };
  },
});

const onOpenShift = (id: string, message: string): ChartRule => ({
  id,
  code: 'OPENSHIFT_SCC',
  severity: 'warning',
  test: (get) => (get(cloud) === 'openshift' ? {setting: cloud, message} : undefined),
});

export const fixedUserOnOpenShift = onOpenShift(
  'R20',
  'The pods run as uid 1000 unless the values say otherwise, which the restricted-v2 SCC of OpenShift refuses. Upstream documents nothing here: granting nonroot-v2 to the service account is a guess that has to be tested.',
);

export const rootOnOpenShift = onOpenShift(
  'R18',
  'agent-k8s runs as root and mounts a directory of the node; on OpenShift its service account needs the privileged SCC.',
);

/** A cache claim that several pods mount; `sharers` names them, undefined where there is only one. */
export const sharedClaim = (id: string, sharers: (get: Get) => string | undefined, suggestion: string): ChartRule[] => [
  {
    id,
    code: 'CLAIM_NOT_SHARED',
    severity: 'error',
    test: (get) => {
      const [who, mode] = [sharers(get), get(cacheAccessMode)];
      const isOwn = mode === 'ReadWriteOnce' || mode === 'ReadWriteOncePod';
      if (who === undefined || !isOwn || !['pvc', 'existing-pvc'].includes(get(cache) ?? '')) return undefined;
      return {setting: cacheAccessMode, message: `${who} mount the cache, which a ${mode} claim does not allow`, suggestion};
    },
  },
  {
    id,
    code: 'CLAIM_HAS_TO_BE_SHARED',
    severity: 'warning',
    isReminder: true,
    test: (get, {isExplicit}) => {
      const who = sharers(get);
      return who !== undefined && get(cache) === 'existing-pvc' && !isExplicit(cacheAccessMode)
        ? {setting: cache, message: `The existing claim has to be ReadWriteMany: ${who} mount it.`}
        : undefined;
    },
  },
];

/** For versions whose egress policy lets no name resolution through. */
export const policyWithoutDns = (range: string, mended: string): ChartRule => ({
  id: 'R31',
  code: 'POLICY_WITHOUT_DNS',
  in: range,
  severity: 'warning',
  test: (get) =>
    get(metadataService) === 'block'
      ? {
          setting: metadataService,
          message: `The metadata block of this version has no DNS rule, so where it is enforced it can cut DNS as well; ${mended} mends that.`,
        }
      : undefined,
});

/** A value that the templates of some versions cannot be rendered with. */
export const breaksTemplates = (id: string, range: string, path: string, breaks: (value: Tree) => boolean, instead: string): ChartRule => ({
  id,
  code: 'BREAKS_TEMPLATES',
  in: range,
  severity: 'error',
  test: (_, {values}) => {
    const value = getAt(values, at(path));
    return value !== undefined && breaks(value)
      ? {setting: set, path, message: `the templates of this version break on this value of ${path}`, suggestion: instead}
      : undefined;
  },
});

export const isFilledMap = (value: Tree): boolean => isMap(value) && Object.keys(value).length > 0;
export const isDash = (value: Tree): boolean => value === '-';
export const isPem = (value: Tree): boolean => typeof value === 'string' && /[\n"\\]/.test(value);

const ANNOTATION_OF: Readonly<Record<string, string>> = {
  irsa: 'eks.amazonaws.com/role-arn',
  azure: 'azure.workload.identity/client-id',
};

/** Rules that hold for all three charts. */
export const sharedRules: readonly ChartRule[] = [
  requestWithinLimit(runCpuRequest, runCpuLimit),
  requestWithinLimit(runMemoryRequest, runMemoryLimit),
  {
    id: 'R28',
    code: 'METADATA_NEEDED',
    severity: 'error',
    test: (get) =>
      get(workloadIdentity) === 'gke' && get(metadataService) === 'block'
        ? {
            setting: workloadIdentity,
            message: 'GKE Workload Identity gets its credentials from 169.254.169.254, so blocking it takes them away',
            suggestion: 'Use --metadata-service allow; Workload Identity already hides the credentials of the node',
          }
        : undefined,
  },
  {
    id: 'R29',
    code: 'POLICY_AGAINST_CLOUD_DNS',
    severity: 'warning',
    test: (get) =>
      get(metadataService) === 'block' && ['gke', 'gke-autopilot'].includes(get(cloud) ?? '')
        ? {
            setting: metadataService,
            message:
              'With Cloud DNS pods resolve names through 169.254.169.254, so the metadata block cuts DNS where it is enforced: use kube-dns, add a policy for port 53, or --metadata-service allow.',
          }
        : undefined,
  },
  {
    id: 'R30',
    code: 'POLICY_ENFORCEMENT',
    severity: 'warning',
    whenAsked: true,
    test: (get) =>
      get(metadataService) === 'block' && get(cloud) !== 'gke-autopilot'
        ? {
            setting: metadataService,
            message: `The block is a NetworkPolicy and only as good as what enforces it. ${policyEnforcement(get)}`,
          }
        : undefined,
  },
  {
    id: 'R42',
    code: 'IDENTITY_INCOMPLETE',
    severity: 'warning',
    test: (get) => {
      const annotation = ANNOTATION_OF[get(workloadIdentity) ?? ''];
      const isTied = get(serviceAccountName) !== undefined || (annotation !== undefined && get(serviceAccountAnnotation)?.[annotation]);
      if (annotation === undefined || isTied) return undefined;
      return {
        setting: workloadIdentity,
        message: `Nothing ties the service account to an identity: add --service-account-annotation ${annotation}=… or name an account that has it with --service-account-name.`,
      };
    },
  },
  {
    id: 'R13',
    code: 'SHARED_CLAIM_WITHOUT_CLASS',
    severity: 'warning',
    test: (get) =>
      get(cache) === 'pvc' && get(cacheAccessMode) === 'ReadWriteMany' && get(cacheStorageClass) === undefined
        ? {
            setting: cache,
            message: `The claim asks for ReadWriteMany and names no storage class. ${sharedVolumeAdvice(get)} Name one with --cache-storage-class.`,
          }
        : undefined,
  },
  {
    id: 'R33',
    code: 'VARIABLE_HAS_SETTING',
    severity: 'error',
    test: (get) => {
      const name = Object.keys(get(extraEnv) ?? {}).find((each) => VARIABLES_OF_SETTINGS.has(each));
      return name === undefined
        ? undefined
        : {
            setting: extraEnv,
            message: `--extra-env ${name} has a setting of its own`,
            suggestion: `Use --${VARIABLES_OF_SETTINGS.get(name)}`,
          };
    },
  },
];
