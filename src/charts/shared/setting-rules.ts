import {url} from '../../settings/agent.ts';
import {cache, cacheAccessMode, cacheStorageClass} from '../../settings/cache.ts';
import {extraEnv} from '../../settings/chart-values.ts';
import {cloud} from '../../settings/cluster.ts';
import type {Get, Setting} from '../../settings/define.ts';
import {serviceAccountAnnotation, serviceAccountName} from '../../settings/identity.ts';
import {agentImage} from '../../settings/images.ts';
import {proxyFor} from '../../settings/kinds/no-proxy.ts';
import {exceeds} from '../../settings/kinds/quantities.ts';
import {gracePeriod, shutdownMode} from '../../settings/lifecycle.ts';
import {httpsProxy, metadataService, noProxy, workloadIdentity} from '../../settings/network.ts';
import {controllerSize, runSize} from '../../settings/size.ts';
import type {SettingValue} from '../../settings/spelling.ts';
import type {ChartName} from '../releases/chart-name.ts';
import {within} from '../releases/versions.ts';
import {policyEnforcement, sharedVolumeAdvice} from './clouds.ts';
import {VARIABLES_OF_SETTINGS} from './extra-variables.ts';
import {type ImageKeys, pinnedAgentsIn} from './pinned-agents.ts';
import type {ChartRule} from './rule.ts';
import {settingError, settingWarning, useOneOf} from './setting-rule.ts';

const requestWithinLimit = (request: Setting<string>, limit: Setting<string>): ChartRule =>
  settingError('REQUEST_ABOVE_LIMIT', {
    setting: request,
    isWrong: (get) => get(limit) !== undefined && exceeds(get(request) ?? '', get(limit) ?? ''),
    message: (get, {isExplicit, spell}) =>
      isExplicit(request)
        ? `${spell(request, get(request))} exceeds ${spell(limit, get(limit))}, which Kubernetes rejects`
        : `${spell(limit, get(limit))} is below the default of ${spell(request)} (${get(request)}), which Kubernetes rejects`,
    suggestion: (get, {isExplicit, spell}) =>
      isExplicit(request)
        ? `Use ${spell(limit, get(request))} or more, or a smaller ${spell(request)}, such as ${smaller(get(request))}`
        : `Add ${spell(request, get(limit))} or less`,
  });

/** A proxy is set, and the Scalr account is an exception of it. */
function isPastProxy(get: Get): boolean {
  const account = get(url);
  const https = get(httpsProxy);
  if (!https || !account || !URL.canParse(account)) return false;
  return (
    proxyFor(new URL(account), {https, http: undefined, excluded: get(noProxy) ?? []}) === undefined
  );
}

/** A number without a unit was probably meant in thousandths of a CPU. */
const smaller = (request = ''): string => (/^\d{2,}$/.test(request) ? `${request}m` : 'half of it');

/** The minimum grace period of each shutdown mode, in seconds; `usual` is the chart default. */
export const shortestGrace = ({
  usual,
  seconds,
}: {
  usual: string;
  seconds: Readonly<Record<string, number>>;
}): ChartRule => {
  const mode = (get: Get): string => get(shutdownMode) ?? usual;
  const least = (get: Get): number => seconds[mode(get)] as number;
  return settingError('GRACE_PERIOD_TOO_SHORT', {
    setting: gracePeriod,
    isWrong: (get) => (get(gracePeriod) ?? least(get)) < least(get),
    message: (get) =>
      `A grace period of ${get(gracePeriod)} s is too short for shutdown mode ${mode(get)}, which requires at least ${least(get)} s`,
    suggestion: (get, {spell}) => `Use ${spell(gracePeriod, least(get))} or more`,
  });
};

const onOpenShift = (message: string): ChartRule =>
  settingWarning('OPENSHIFT_SCC', {
    setting: cloud,
    isWrong: (get) => get(cloud) === 'openshift',
    message,
  });
export const fixedUserOnOpenShift = onOpenShift(
  'By default the pods run as uid 1000, which the restricted-v2 SCC of OpenShift rejects. Scalr documents no solution. Granting nonroot-v2 to the service account is not verified and must be tested.',
);

export const rootOnOpenShift = onOpenShift(
  'agent-k8s runs as root and mounts a directory of the node. On OpenShift, its service account requires the privileged SCC.',
);

/** A cache PersistentVolumeClaim that several pods mount; `sharers` describes them, undefined if there is only one. */
export const sharedClaim = ({
  sharers,
  instead = [],
}: {
  sharers(get: Get): string | undefined;
  /** Besides a shared volume or none. */
  instead?: readonly SettingValue[];
}): ChartRule[] => [
  settingError('PVC_NOT_SHARED', {
    setting: cacheAccessMode,
    isWrong: (get) =>
      sharers(get) !== undefined &&
      ['ReadWriteOnce', 'ReadWriteOncePod'].includes(get(cacheAccessMode) ?? '') &&
      ['pvc', 'existing-pvc'].includes(get(cache) ?? ''),
    message: (get) =>
      `A ${get(cacheAccessMode)} cache cannot be shared, but it is mounted by ${sharers(get)}`,
    suggestion: useOneOf(
      {setting: cacheAccessMode, value: 'ReadWriteMany'},
      {setting: cache, value: 'ephemeral'},
      ...instead,
    ),
  }),
  settingWarning('PVC_MUST_BE_SHARED', {
    isReminder: true,
    setting: cache,
    isWrong: (get, {isExplicit}) =>
      sharers(get) !== undefined && get(cache) === 'existing-pvc' && !isExplicit(cacheAccessMode),
    message: (get) =>
      `The existing PVC must be ReadWriteMany, because it is mounted by ${sharers(get)}.`,
  }),
];

/** For versions whose egress policy blocks DNS. */
export const policyWithoutDns = ({in: range, fixedIn}: {in: string; fixedIn: string}): ChartRule =>
  settingWarning('POLICY_WITHOUT_DNS', {
    in: range,
    setting: metadataService,
    isWrong: (get) => get(metadataService) === 'block',
    message: `In this version, the policy that blocks the metadata service has no DNS rule. Where it is enforced, it can block DNS. Fixed in ${fixedIn}.`,
  });

/** docs/charts/README.md, "Agent version". */
export const pinnedAgent = (chart: ChartName, images: readonly ImageKeys[]): ChartRule => ({
  code: 'AGENT_VERSION',
  verdict: 'warning',
  test: (_, {values, version}) => {
    const known = images.filter((each) => within(version, each.in));
    const [pinned] = pinnedAgentsIn(known, values, {chart, version});
    return (
      pinned && {
        setting: agentImage,
        path: pinned.key,
        message: `${pinned.message}.`,
        suggestion: `Remove ${pinned.keys}`,
      }
    );
  },
});

/** The service account annotation that each workload identity needs. */
export const IDENTITY_ANNOTATIONS: Readonly<Record<string, string>> = {
  irsa: 'eks.amazonaws.com/role-arn',
  azure: 'azure.workload.identity/client-id',
};

const annotationFor = (get: Get): string | undefined =>
  IDENTITY_ANNOTATIONS[get(workloadIdentity) ?? ''];
const variableWithSetting = (get: Get): string | undefined =>
  Object.keys(get(extraEnv) ?? {}).find((each) => VARIABLES_OF_SETTINGS.has(each));

/** Clouds whose nodes cannot mount Amazon EFS. */
const OFF_AWS: readonly (string | undefined)[] = ['gke', 'gke-autopilot', 'aks'];

export const sharedRules: readonly ChartRule[] = [
  settingError('EFS_OFF_AWS', {
    setting: cache,
    isWrong: (get) => get(cache) === 'efs' && OFF_AWS.includes(get(cloud)),
    message: (get, {spell}) =>
      `${spell(cache, 'efs')} requires Amazon EFS, which nodes on ${get(cloud)} cannot mount`,
    suggestion: (_, {spell}) =>
      `Use another cache, for example ${spell(cache, 'existing-pvc')} with a ReadWriteMany volume`,
  }),
  requestWithinLimit(runSize.cpuRequest, runSize.cpuLimit),
  requestWithinLimit(runSize.memoryRequest, runSize.memoryLimit),
  requestWithinLimit(controllerSize.cpuRequest, controllerSize.cpuLimit),
  requestWithinLimit(controllerSize.memoryRequest, controllerSize.memoryLimit),
  settingWarning('SCALR_BYPASSES_PROXY', {
    setting: noProxy,
    paths: ['extraEnv.NO_PROXY', 'extraEnv.no_proxy', 'agent.extraEnv.NO_PROXY'],
    isWrong: isPastProxy,
    message: (get) =>
      `NO_PROXY includes ${new URL(get(url) ?? '').hostname}, so the agent connects to Scalr without the proxy.`,
    suggestion: 'Remove it from the exceptions, unless the nodes reach Scalr directly',
  }),
  settingError('METADATA_NEEDED', {
    setting: workloadIdentity,
    isWrong: (get) => get(workloadIdentity) === 'gke' && get(metadataService) === 'block',
    message: (_, {spell}) =>
      `GKE Workload Identity requires access to 169.254.169.254, which ${spell(metadataService, 'block')} denies`,
    suggestion: (_, {spell}) =>
      `Use ${spell(metadataService, 'allow')}; Workload Identity already protects the node credentials`,
  }),
  settingWarning('POLICY_AGAINST_CLOUD_DNS', {
    setting: metadataService,
    isWrong: (get) =>
      get(metadataService) === 'block' && ['gke', 'gke-autopilot'].includes(get(cloud) ?? ''),
    message: (_, {spell}) =>
      `With Cloud DNS, pods resolve names through 169.254.169.254. Where the metadata policy is enforced, it blocks DNS. Use kube-dns, add a policy for port 53, or use ${spell(metadataService, 'allow')}.`,
  }),
  settingWarning('POLICY_ENFORCEMENT', {
    whenAsked: true,
    setting: metadataService,
    isWrong: (get) => get(metadataService) === 'block' && get(cloud) !== 'gke-autopilot',
    message: (get) =>
      `The metadata service is blocked by a NetworkPolicy, which the CNI must enforce; the probe of preflight checks it. ${policyEnforcement(get)}`,
  }),
  settingWarning('IDENTITY_INCOMPLETE', {
    setting: workloadIdentity,
    isWrong: (get) => {
      const annotation = annotationFor(get);
      return (
        annotation !== undefined &&
        get(serviceAccountName) === undefined &&
        !get(serviceAccountAnnotation)?.[annotation]
      );
    },
    message: (get, {spell}) =>
      `The service account has no cloud identity. Add ${spell(serviceAccountAnnotation, `${annotationFor(get)}=…`)}, or use ${spell(serviceAccountName)} with an account that has this annotation.`,
  }),
  settingWarning('SHARED_PVC_WITHOUT_CLASS', {
    setting: cache,
    isWrong: (get) =>
      get(cache) === 'pvc' &&
      get(cacheAccessMode) === 'ReadWriteMany' &&
      get(cacheStorageClass) === undefined,
    message: (get, {spell}) =>
      `Pods stay pending if the default StorageClass does not support the access mode ReadWriteMany of the PVC. ${sharedVolumeAdvice(get)} Set ${spell(cacheStorageClass)}.`,
  }),
  settingError('VARIABLE_HAS_SETTING', {
    setting: extraEnv,
    isWrong: (get) => variableWithSetting(get) !== undefined,
    message: (get, {spell}) =>
      `${variableWithSetting(get)} cannot be set with ${spell(extraEnv)}, because it has its own setting`,
    suggestion: (get, {spell}) =>
      `Use ${spell(VARIABLES_OF_SETTINGS.get(variableWithSetting(get) as string) as Setting)}`,
  }),
];
