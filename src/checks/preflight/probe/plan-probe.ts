import {type Endpoint, endpointsOf, isInside, isPattern} from '../../../charts/endpoints.ts';
import {policyMissesRuns} from '../../../charts/releases/target.ts';
import type {KubernetesObject} from '../../../cluster/kubernetes/objects.ts';
import {mapsIn, type PodTemplate, podTemplates} from '../../../cluster/kubernetes/pod-specs.ts';
import type {Values} from '../../../ground/tree.ts';
import {url as urlSetting} from '../../../settings/agent.ts';
import {imageRegistry, runnerImage} from '../../../settings/images.ts';
import {manifestUrl} from '../../../settings/kinds/images.ts';
import {proxyFor} from '../../../settings/kinds/no-proxy.ts';
import {blocks} from '../checks/network.ts';
import {podRole} from '../facts/chart-pods.ts';
import type {PreflightContext} from '../facts/context.ts';
import type {ProbePlan} from '../facts/probe.ts';
import {isAskedByProbe} from './mirror-checks.ts';
import {PROBE_CONTAINER, probeLabels, RUNNER_CONTAINER} from './probe-objects.ts';
import {RUNNER_SCRIPT, SCRIPT} from './script.ts';
import {type ProbeVolumes, probeVolumes} from './volumes.ts';

type ProbeContext = Pick<PreflightContext, 'name' | 'target' | 'get' | 'values' | 'now' | 'mirror'>;

/** How a probe is made. */
interface ProbeOptions {
  /** serviceaccounts/name, secrets/name and persistentvolumeclaims/name that pods can use now. */
  existing: ReadonlySet<string>;
  /** After which the pod ends. */
  seconds: number;
  /** Requested besides those that a run needs. */
  urls: readonly string[];
}

interface Variable {
  name: string;
  value?: string;
}

/** What a probe is made from. */
interface ProbeSource {
  context: ProbeContext;
  options: ProbeOptions;
  objects: readonly KubernetesObject[];
  /** Of the pod and of the objects that it needs. */
  name: string;
  /** Of a run, with its container that connects to Scalr. */
  template: PodTemplate;
  container: Values;
  /** Proxy and certificates of that container. */
  env: readonly Variable[];
  volumes: ProbeVolumes;
  /** The service account of the pod, where an install creates it first. */
  missingAccount: string | undefined;
}

/** A pod with the placement, image, rights, proxy and volumes of a run, and what it needs; undefined if the chart creates no pod for runs. Pure. */
export function planProbe(
  context: ProbeContext,
  objects: readonly KubernetesObject[],
  options: ProbeOptions,
): ProbePlan | undefined {
  const source = probeSource(context, objects, options);
  if (source === undefined) return undefined;
  const {name, container, env, volumes, missingAccount} = source;
  const url = context.get(urlSetting);
  const metadata = {name, labels: probeLabels(context.name.release)};
  const {data} = volumes;
  const configMaps = data ? [{apiVersion: 'v1', kind: 'ConfigMap', metadata, data}] : [];
  const accountNote = `uses service account default instead of ${missingAccount}, which the install creates`;
  return {
    pod: name,
    objects: [...policiesFor(source), ...configMaps, podOf(source)],
    image: String(container['image']),
    url,
    proxy: url && shownProxy(url, env),
    urlProxies: new Map(options.urls.map((each) => [each, shownProxy(each, env)])),
    hasCertificates: volumes.caPath !== undefined,
    notes: [...(missingAccount === undefined ? [] : [accountNote]), ...volumes.notes],
  };
}

/** Never the token of the agent. */
const COPIED_VARIABLES = /^(https?_proxy|no_proxy|ssl_cert_(file|dir))$/i;

function probeSource(
  context: ProbeContext,
  objects: readonly KubernetesObject[],
  options: ProbeOptions,
): ProbeSource | undefined {
  const [template] = objects
    .filter((each) => podRole(each, context.target.chart) === 'runs')
    .flatMap(podTemplates);
  if (template === undefined) return undefined;
  const {spec} = template;
  const {existing} = options;
  const name = `${context.name.release}-probe-${context.now.getTime().toString(36)}`;
  const container = agentContainer(spec);
  const variables = mapsIn(container['env']) as unknown as Variable[];
  const account = objects.find(
    ({kind, metadata}) => kind === 'ServiceAccount' && metadata.name === spec['serviceAccountName'],
  )?.metadata.name;
  return {
    context,
    options,
    objects,
    name,
    template,
    container,
    env: variables.filter((each) => COPIED_VARIABLES.test(each.name)),
    volumes: probeVolumes(spec, container, {objects, existing, configMap: name}),
    missingAccount: existing.has(`serviceaccounts/${account}`) ? undefined : account,
  };
}

function agentContainer(spec: Values): Values {
  const containers = mapsIn(spec['containers']);
  const connects = ({env}: Values): boolean =>
    mapsIn(env).some((each) => each['name'] === 'SCALR_URL');
  return containers.find(connects) ?? (containers[0] as Values);
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

const RESOURCES = {requests: {cpu: '10m', memory: '32Mi'}, limits: {cpu: '200m', memory: '128Mi'}};

function podOf(source: ProbeSource) {
  const {context, options, name, template, container, volumes, missingAccount} = source;
  const labels = probeLabels(context.name.release);
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {name, labels, annotations: annotationsOf(template)},
    spec: {
      ...picked(template.spec, POD_FIELDS),
      ...(missingAccount !== undefined && {serviceAccountName: 'default'}),
      automountServiceAccountToken: false,
      restartPolicy: 'Never',
      // Ends the pod if it cannot be deleted.
      activeDeadlineSeconds: options.seconds,
      terminationGracePeriodSeconds: 1,
      ...runnerOf(template, context),
      containers: [
        {
          name: PROBE_CONTAINER,
          ...picked(container, CONTAINER_FIELDS),
          command: ['/bin/sh', '-c', SCRIPT, 'probe', ...volumes.directories],
          env: variablesOf(source),
          resources: RESOURCES,
          volumeMounts: volumes.mounts,
        },
      ],
      volumes: volumes.volumes,
    },
  };
}

const METADATA = 'http://169.254.169.254/';

/** The metadata service should be blocked; some engines enforce a policy a few seconds after the pod has started. */
const TRIES_WHERE_BLOCKED = 4;

/** The variables of the script. */
function variablesOf({context, options, env, volumes}: ProbeSource): Variable[] {
  const {caPath, missesCertificates} = volumes;
  const telemetry = endpointsFor(context).filter((each) => each.purpose === 'telemetry');
  const images = (context.mirror?.images ?? []).map(({image}) => image);
  const asked = {
    PROBE_URL: context.get(urlSetting) ?? '',
    PROBE_CA: caPath ?? '',
    PROBE_REGISTRIES: registriesFor(context).join(' '),
    PROBE_TELEMETRY: telemetry.map(({host, port}) => `${host}:${port}`).join(' '),
    PROBE_MANIFESTS: images.filter(isAskedByProbe).map(manifestUrl).join(' '),
    PROBE_URLS: options.urls.join(' '),
    PROBE_METADATA: METADATA,
    PROBE_TRIES: String(blocks(context) ? TRIES_WHERE_BLOCKED : 1),
  };
  return [
    ...env.filter((each) => !missesCertificates || !/^ssl_/i.test(each.name)),
    ...Object.entries(asked).map(([name, value]) => ({name, value})),
  ];
}

/** Required hosts with a name; the account and the images in --image-registry have requests of their own. */
function registriesFor(context: ProbeContext): string[] {
  const {get} = context;
  const account = get(urlSetting);
  const accountHost = account && new URL(account).hostname;
  const hasOwnRequest = ({host, purpose}: Endpoint): boolean =>
    host === accountHost || (purpose === 'images' && get(imageRegistry) !== undefined);
  const hosts = endpointsFor(context).filter(
    (each) =>
      each.required &&
      each.port === 443 &&
      each.from !== 'installer' &&
      !isPattern(each) &&
      !isInside(each) &&
      !hasOwnRequest(each),
  );
  return [...new Set(hosts.map(({host}) => `https://${host}/`))];
}

const endpointsFor = ({get, target, values}: ProbeContext): Endpoint[] =>
  endpointsOf({target: 'kubernetes', get, chart: {...target, values}});

/** An init container with the runner image, where pods have one. */
function runnerOf({spec}: PodTemplate, {get}: ProbeContext): Values {
  const image = get(runnerImage);
  const container = mapsIn(spec['containers']).find(
    (each) => image !== undefined && String(each['image']).endsWith(image),
  );
  if (container === undefined) return {};
  const command = ['/bin/sh', '-c', RUNNER_SCRIPT];
  const copied = picked(container, CONTAINER_FIELDS);
  return {initContainers: [{name: RUNNER_CONTAINER, ...copied, command, resources: RESOURCES}]};
}

const picked = (tree: Values, keys: readonly string[]): Values =>
  Object.fromEntries(
    keys
      .map((key) => [key, tree[key]] as const)
      .filter(([, value]) => value !== undefined && value !== null),
  ) as Values;

/** Annotations can decide about placement and injected containers. Checksums only belong to objects of the release. */
const annotationsOf = ({metadata}: PodTemplate): Record<string, string> =>
  Object.fromEntries(
    Object.entries(metadata?.annotations ?? {}).filter(([key]) => !key.startsWith('checksum/')),
  );

/** The proxy through which a pod with these variables requests an address, without user and password; undefined if it connects directly. */
function shownProxy(url: string, env: readonly Variable[]): string | undefined {
  const variable = (name: string): string | undefined =>
    [name.toUpperCase(), name]
      .map((spelled) => env.find((each) => each.name === spelled)?.value)
      .find(Boolean);
  const proxy = proxyFor(new URL(url), {
    https: variable('https_proxy'),
    http: variable('http_proxy'),
    excluded: (variable('no_proxy') ?? '').split(','),
  });
  return proxy?.replace(/^.*@/, '');
}

interface Policy extends KubernetesObject {
  spec?: {podSelector?: {matchLabels?: Readonly<Record<string, string>>}};
}

/** Copies of the chart's policies for runs: those may not exist yet, and the probe has none of their labels. */
function policiesFor({template, context, objects, name}: ProbeSource): KubernetesObject[] {
  if (policyMissesRuns(context.target)) return [];
  const labels = probeLabels(context.name.release);
  const ofRun = template.metadata?.labels ?? {};
  const selectsRun = ({spec}: Policy): boolean =>
    Object.entries(spec?.podSelector?.matchLabels ?? {}).every(
      ([key, value]) => ofRun[key] === value,
    );
  const policies: Policy[] = objects.filter(({kind}) => kind === 'NetworkPolicy');
  return policies.filter(selectsRun).map(({apiVersion = '', kind = '', spec}, index) => ({
    apiVersion,
    kind,
    metadata: {name: index === 0 ? name : `${name}-${index}`, labels},
    spec: {...spec, podSelector: {matchLabels: labels}},
  }));
}
