import {type Endpoint, endpointsOf, isInside, isPattern} from '../../../charts/endpoints.ts';
import {policyMissesRuns} from '../../../charts/target.ts';
import type {KubernetesClient} from '../../../cluster/kubernetes/client.ts';
import {resourceOf} from '../../../cluster/kubernetes/kinds.ts';
import {objectFact} from '../../../cluster/kubernetes/object-facts.ts';
import type {KubernetesObject} from '../../../cluster/kubernetes/objects.ts';
import {reviewPermissions} from '../../../cluster/kubernetes/permissions.ts';
import {mapsIn, type PodTemplate, podTemplates} from '../../../cluster/kubernetes/pod-specs.ts';
import {REQUEST_MS} from '../../../cluster/kubernetes/resources.ts';
import {kubectlCommand} from '../../../ground/command-line.ts';
import {isKnown, knownValue} from '../../../ground/fact.ts';
import type {Values} from '../../../ground/tree.ts';
import {serverProblem} from '../../../ground/unreachable.ts';
import {manifestUrl, proxyFor} from '../../../settings/addresses.ts';
import {url as urlSetting} from '../../../settings/agent.ts';
import {imageRegistry, runnerImage} from '../../../settings/pods.ts';
import {podRole} from '../checks/available-nodes.ts';
import {blocks} from '../checks/network.ts';
import {grantFor} from '../checks/permissions.ts';
import type {
  NeededPermission,
  PreflightContext,
  ProbePlan,
  SkippedProbe,
} from '../preflight-context.ts';
import {isAskedByProbe} from './mirror-checks.ts';
import {PROBE_CONTAINER, probeLabels, RUNNER_CONTAINER, RUNNER_SCRIPT, SCRIPT} from './script.ts';
import {probeVolumes} from './volumes.ts';

interface ProbeAccess {
  kubernetes: Pick<KubernetesClient, 'get' | 'post'>;
  signal: AbortSignal;
}

/** Plans a probe that runs for at most `seconds`, where this account may create one; changes nothing. */
export async function prepareProbe(
  context: PreflightContext,
  {kubernetes, signal}: ProbeAccess,
  {seconds, urls}: {seconds: number; urls: readonly string[]},
): Promise<ProbePlan | SkippedProbe> {
  const {manifest, readings, name, facts} = context;
  const {kubeTarget} = name;
  if (!isKnown(facts.versions.server)) return {because: serverProblem(facts.versions.server)};
  if (!isKnown(manifest)) return {because: `the chart cannot be rendered: ${manifest.because}`};
  if (isKnown(readings.namespaceObject) && readings.namespaceObject.value === undefined)
    return {
      because: `namespace ${kubeTarget.namespace} does not exist yet`,
      remedy: `Create it first: ${kubectlCommand(kubeTarget, 'create', 'namespace', kubeTarget.namespace)}`,
    };
  const existing = await usableObjects(context, {kubernetes, signal});
  const plan = planProbe(context, manifest.value, {existing, seconds, urls});
  if (plan === undefined) return {because: 'the chart creates no pod for runs'};
  const permissions = await reviewPermissions(
    neededFor(plan, kubeTarget.namespace),
    kubernetes,
    signal,
  );
  if (!isKnown(permissions))
    return {because: `cannot determine whether your user can create a pod: ${permissions.because}`};
  const missing = permissions.value.filter(({isAllowed}) => !isAllowed);
  if (missing.length === 0) return plan;
  return {
    because: `your user cannot ${missing.map(({verb, resource}) => `${verb} ${resource}`).join(', ')}`,
    remedy: grantFor(permissions.value, 'probe', context),
  };
}

function neededFor({objects}: ProbePlan, namespace: string): NeededPermission[] {
  const changes = objects.flatMap((object) =>
    ['create', 'delete'].map((verb) => ({verb, resource: resourceOf(object)})),
  );
  const reads = [
    {verb: 'list', resource: 'pods'},
    {verb: 'get', resource: 'pods'},
    {verb: 'get', resource: 'pods/log'},
  ];
  return [...changes, ...reads].map((each) => ({...each, namespace, isOptional: false}));
}

/** What the pod can mount now. Only bound PVCs: the probe would bind a PVC that waits for its first consumer. */
async function usableObjects(
  {manifest, secrets, claims, name: {kubeTarget}}: PreflightContext,
  {kubernetes, signal}: ProbeAccess,
): Promise<Set<string>> {
  const accounts = (knownValue(manifest) ?? [])
    .flatMap(podTemplates)
    .map(({spec}) => spec['serviceAccountName']);
  const options = {signal, idleMs: REQUEST_MS, namespace: kubeTarget.namespace};
  const found = await Promise.all(
    [...new Set(accounts.filter((each) => typeof each === 'string'))].map(async (each) => ({
      spelled: `serviceaccounts/${each}`,
      account: await objectFact(kubernetes, 'serviceaccounts', each, options),
    })),
  );
  const bound = [...claims].filter(([, claim]) => {
    const {status, spec} = knownValue(claim) ?? {};
    // Only one pod at a time can mount such a PVC.
    return status?.phase === 'Bound' && !spec?.accessModes?.includes('ReadWriteOncePod');
  });
  return new Set([
    ...found.filter(({account}) => knownValue(account) !== undefined).map(({spelled}) => spelled),
    ...[...secrets]
      .filter(([, secret]) => knownValue(secret) !== undefined)
      .map(([secret]) => `secrets/${secret}`),
    ...bound.map(([claim]) => `persistentvolumeclaims/${claim}`),
  ]);
}

interface Variable {
  name: string;
  value?: string;
}

/** What the probe copies from run pods: their placement and their identity. */
const POD_FIELDS = [
  'serviceAccountName',
  'imagePullSecrets',
  'securityContext',
  'nodeSelector',
  'tolerations',
  'affinity',
  'runtimeClassName',

  'priorityClassName',
  'schedulerName',
  'hostNetwork',
  'dnsPolicy',
  'dnsConfig',
  'hostAliases',
  'os',
];
const CONTAINER_FIELDS = ['image', 'imagePullPolicy', 'securityContext'];
/** Never the token of the agent. */
const VARIABLES = /^(https?_proxy|no_proxy|ssl_cert_(file|dir))$/i;

const METADATA = 'http://169.254.169.254/';

/** The metadata service should be blocked; some engines enforce a policy a few seconds after the pod has started. */
const TRIES_WHERE_BLOCKED = 4;

const RESOURCES = {requests: {cpu: '10m', memory: '32Mi'}, limits: {cpu: '200m', memory: '128Mi'}};

type Context = Pick<PreflightContext, 'name' | 'target' | 'get' | 'values' | 'now' | 'mirror'>;

/**
 * A pod with the placement, image, rights, proxy and volumes of a run, and what it needs; undefined if the chart creates no pod for runs.
 * `existing` holds serviceaccounts/name, secrets/name and persistentvolumeclaims/name that pods can use now; the pod ends after `seconds` and requests `urls` too. Pure.
 */
export function planProbe(
  context: Context,
  objects: readonly KubernetesObject[],
  {
    existing,
    seconds,
    urls,
  }: {existing: ReadonlySet<string>; seconds: number; urls: readonly string[]},
): ProbePlan | undefined {
  const [template] = objects
    .filter((each) => podRole(each, context.target.chart) === 'runs')
    .flatMap(podTemplates);
  if (template === undefined) return undefined;
  const name = `${context.name.release}-probe-${context.now.getTime().toString(36)}`;
  const labels = probeLabels(context.name.release);
  const url = context.get(urlSetting);
  const containers = mapsIn(template.spec['containers']);
  const container =
    containers.find(({env}) => mapsIn(env).some((each) => each['name'] === 'SCALR_URL')) ??
    (containers[0] as Values);
  const {mounts, volumes, directories, caPath, missesCertificates, data, notes} = probeVolumes(
    template.spec,
    container,
    {
      objects,
      existing,
      configMap: name,
    },
  );
  // The service account of the pod, where an install creates it first.
  const account = objects
    .filter(
      ({kind, metadata}) =>
        kind === 'ServiceAccount' && metadata.name === template.spec['serviceAccountName'],
    )
    .map(({metadata}) => metadata.name)
    .find((each) => !existing.has(`serviceaccounts/${each}`));
  const env = (mapsIn(container['env']) as unknown as Variable[]).filter((each) =>
    VARIABLES.test(each.name),
  );
  const proxy = url === undefined ? undefined : proxyOfPod(url, env);
  const telemetry = endpointsFor(context).filter((each) => each.purpose === 'telemetry');
  const images = (context.mirror?.images ?? []).map(({image}) => image);
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {name, labels, annotations: annotationsOf(template)},
    spec: {
      ...picked(template.spec, POD_FIELDS),
      ...(account === undefined ? {} : {serviceAccountName: 'default'}),
      automountServiceAccountToken: false,
      restartPolicy: 'Never',
      // Ends the pod if it cannot be deleted.
      activeDeadlineSeconds: seconds,
      terminationGracePeriodSeconds: 1,
      ...runnerOf(template, context),
      containers: [
        {
          name: PROBE_CONTAINER,
          ...picked(container, CONTAINER_FIELDS),
          command: ['/bin/sh', '-c', SCRIPT, 'probe', ...directories],
          env: [
            ...env.filter((each) => !missesCertificates || !/^ssl_/i.test(each.name)),
            {name: 'PROBE_URL', value: url ?? ''},
            {name: 'PROBE_CA', value: caPath ?? ''},
            {name: 'PROBE_REGISTRIES', value: registriesFor(context).join(' ')},
            {
              name: 'PROBE_TELEMETRY',
              value: telemetry.map(({host, port}) => `${host}:${port}`).join(' '),
            },
            {
              name: 'PROBE_MANIFESTS',
              value: images.filter(isAskedByProbe).map(manifestUrl).join(' '),
            },
            {name: 'PROBE_URLS', value: urls.join(' ')},
            {name: 'PROBE_METADATA', value: METADATA},
            {name: 'PROBE_TRIES', value: String(blocks(context) ? TRIES_WHERE_BLOCKED : 1)},
          ],
          resources: RESOURCES,
          volumeMounts: mounts,
        },
      ],
      volumes,
    },
  };
  const configMap = {apiVersion: 'v1', kind: 'ConfigMap', metadata: {name, labels}, data};
  return {
    pod: name,
    objects: [...policiesFor(template, context, objects, name), ...(data ? [configMap] : []), pod],
    image: String(container['image']),
    url,
    proxy: shownProxy(proxy),
    urlProxies: new Map(urls.map((each) => [each, shownProxy(proxyOfPod(each, env))])),
    hasCertificates: caPath !== undefined,
    notes: [
      ...(account === undefined
        ? []
        : [`uses service account default instead of ${account}, which the install creates`]),
      ...notes,
    ],
  };
}

/** Required hosts with a name; the account and the images in --image-registry have requests of their own. */
function registriesFor(context: Context): string[] {
  const {get} = context;
  const account = get(urlSetting);
  const hosts = endpointsFor(context)
    .filter(
      (each) =>
        each.required &&
        each.port === 443 &&
        each.from !== 'installer' &&
        !isPattern(each) &&
        !isInside(each),
    )
    .filter(
      ({host, purpose: of}) =>
        !(of === 'images' && get(imageRegistry) !== undefined) &&
        host !== (account && new URL(account).hostname),
    );
  return [...new Set(hosts.map(({host}) => `https://${host}/`))];
}

const endpointsFor = ({get, target, values}: Context): Endpoint[] =>
  endpointsOf({target: 'kubernetes', get, chart: {...target, values}});

/** An init container with the runner image, where pods have one. */
function runnerOf({spec}: PodTemplate, {get}: Context): Values {
  const image = get(runnerImage);
  const container = mapsIn(spec['containers']).find(
    (each) => image !== undefined && String(each['image']).endsWith(image),
  );
  if (container === undefined) return {};
  const command = ['/bin/sh', '-c', RUNNER_SCRIPT];
  return {
    initContainers: [
      {
        name: RUNNER_CONTAINER,
        ...picked(container, CONTAINER_FIELDS),
        command,
        resources: RESOURCES,
      },
    ],
  };
}

const picked = (tree: Values, keys: readonly string[]): Values =>
  Object.fromEntries(
    keys.flatMap((key) =>
      tree[key] === undefined || tree[key] === null ? [] : [[key, tree[key]]],
    ),
  );

/** Annotations can decide about placement and injected containers. Checksums only belong to objects of the release. */
const annotationsOf = ({metadata}: PodTemplate): Record<string, string> =>
  Object.fromEntries(
    Object.entries(metadata?.annotations ?? {}).filter(([key]) => !key.startsWith('checksum/')),
  );

/** Without user and password. */
const shownProxy = (proxy: string | undefined): string | undefined => proxy?.replace(/^.*@/, '');

/** The proxy through which a pod with these variables requests an address; undefined if it connects directly. */
function proxyOfPod(url: string, env: readonly Variable[]): string | undefined {
  const variable = (name: string): string | undefined =>
    [name.toUpperCase(), name]
      .map((spelled) => env.find((each) => each.name === spelled)?.value)
      .find(Boolean);
  return proxyFor(new URL(url), {
    https: variable('https_proxy'),
    http: variable('http_proxy'),
    excluded: (variable('no_proxy') ?? '').split(','),
  });
}

interface Policy extends KubernetesObject {
  spec?: {podSelector?: {matchLabels?: Readonly<Record<string, string>>}};
}

/** Copies of the chart's policies for runs: those may not exist yet, and the probe has none of their labels. */
function policiesFor(
  {metadata}: PodTemplate,
  context: Context,
  objects: readonly Policy[],
  name: string,
): KubernetesObject[] {
  if (policyMissesRuns(context.target)) return [];
  const labels = probeLabels(context.name.release);
  return objects
    .filter(({kind}) => kind === 'NetworkPolicy')
    .filter(({spec}) =>
      Object.entries(spec?.podSelector?.matchLabels ?? {}).every(
        ([key, value]) => metadata?.labels?.[key] === value,
      ),
    )
    .map(({apiVersion = '', kind = '', spec}, index) => ({
      apiVersion,
      kind,
      metadata: {name: index === 0 ? name : `${name}-${index}`, labels},
      spec: {...spec, podSelector: {matchLabels: labels}},
    }));
}
