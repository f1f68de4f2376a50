import type {Tree, Values} from '../../charts/tree.ts';
import {missesRuns} from '../../cluster/facts/policy-weakness.ts';
import type {KubernetesObject} from '../../cluster/objects.ts';
import {type PodTemplate, podTemplates} from '../../cluster/pod-specs.ts';
import {PROBE_CONTAINER, probeLabels} from '../../cluster/probe.ts';
import {url as urlSetting} from '../../settings/agent.ts';
import {roleOf} from '../checks/available-nodes.ts';
import {blocks} from '../checks/network.ts';
import type {PreflightContext, ProbePlan} from '../preflight-context.ts';
import {mapsIn} from '../referenced-objects.ts';
import {SCRIPT} from './script.ts';
import {certificatesOf, dataMounts, mounted, mountOf} from './volumes.ts';

interface Ask {
  there: ReadonlySet<string>;
  /** After which the pod ends, whoever looks. */
  seconds: number;
}

type About = Pick<PreflightContext, 'name' | 'target' | 'get' | 'now'>;

/** What a probe consists of; undefined where the chart makes no pod for runs. Pure. */
export function planProbe(about: About, objects: readonly KubernetesObject[], {there, seconds}: Ask): ProbePlan | undefined {
  const {release} = about.name;
  const [template] = objects.filter((each) => roleOf(each, about.target.chart) === 'runs').flatMap(podTemplates);
  if (template === undefined) return undefined;
  const name = `${release}-probe-${about.now.getTime().toString(36)}`;
  const labels = probeLabels(release);
  const url = about.get(urlSetting);
  const {pod, data, hasCertificates, notes, env} = probePod(template, {
    ...{name, labels, objects, there, url, seconds},
    waitsForBlock: blocks(about),
  });
  const configMap = {apiVersion: 'v1', kind: 'ConfigMap', metadata: {name, labels}, data};
  const proxy = url === undefined ? undefined : proxyFor(url, env);
  return {
    pod: name,
    objects: [...policiesFor(template, about, objects, name), ...(data ? [configMap] : []), pod],
    image: String(speakerOf(template)['image']),
    url,
    proxy: proxy?.replace(/^.*@/, ''),
    hasCertificates,
    notes,
  };
}

interface Policy extends KubernetesObject {
  spec?: {podSelector?: {matchLabels?: Readonly<Record<string, string>>}};
}

/** The policies of the chart that hold for runs, for the probe: they may not be there yet, and it has none of their labels. */
function policiesFor({metadata}: PodTemplate, about: About, objects: readonly KubernetesObject[], name: string): KubernetesObject[] {
  if (missesRuns(about.target)) return [];
  const labels = probeLabels(about.name.release);
  return (objects as readonly Policy[])
    .filter(({kind}) => kind === 'NetworkPolicy')
    .filter(({spec}) => Object.entries(spec?.podSelector?.matchLabels ?? {}).every(([key, value]) => metadata?.labels?.[key] === value))
    .map(({apiVersion = '', kind = '', spec}, index) => ({
      apiVersion,
      kind,
      metadata: {name: index === 0 ? name : `${name}-${index}`, labels},
      spec: {...spec, podSelector: {matchLabels: labels}},
    }));
}

interface ProbeAsk {
  name: string;
  labels: Readonly<Record<string, string>>;
  objects: readonly KubernetesObject[];
  /** `serviceaccounts/name`, `secrets/name`, `persistentvolumeclaims/name` that pods can use now. */
  there: ReadonlySet<string>;
  url: string | undefined;
  /** The metadata service is asked again as long as it answers: it should be blocked. */
  waitsForBlock: boolean;
  seconds: number;
}

interface Variable {
  name: string;
  value?: string;
  [key: string]: Tree;
}

interface ProbePod {
  pod: KubernetesObject;
  /** Certificates that the pod mounts from a ConfigMap of its name. */
  data?: Readonly<Record<string, string>> | undefined;
  hasCertificates: boolean;
  notes: readonly string[];
  env: readonly {name: string; value?: string}[];
}

const METADATA = 'http://169.254.169.254/';

/** Enough for a policy that is enforced a few seconds after the pod has started. */
const TRIES = 4;

/** Where a pod goes, and as whom; what the chart says of it holds for the probe. */
const KEPT = [
  ...['serviceAccountName', 'imagePullSecrets', 'securityContext', 'nodeSelector', 'tolerations', 'affinity', 'runtimeClassName'],
  ...['priorityClassName', 'schedulerName', 'hostNetwork', 'dnsPolicy', 'dnsConfig', 'hostAliases', 'os'],
];
const KEPT_OF_CONTAINER = ['image', 'imagePullPolicy', 'securityContext'];
/** The token of the agent is none of them. */
const KEPT_VARIABLES = /^(https?_proxy|no_proxy|ssl_cert_(file|dir))$/i;

const RESOURCES = {requests: {cpu: '10m', memory: '32Mi'}, limits: {cpu: '200m', memory: '128Mi'}};
const CA_MOUNT = {name: 'probe-ca', mountPath: '/etc/scalr-agent-probe', readOnly: true};
const CA_FILE = 'ca.crt';

const picked = (tree: Values, keys: readonly string[]): Values =>
  Object.fromEntries(keys.flatMap((key) => (tree[key] === undefined || tree[key] === null ? [] : [[key, tree[key]]])));

/** Of the containers of a run the one that speaks to Scalr. */
function speakerOf({spec}: PodTemplate): Values {
  const containers = mapsIn(spec['containers']);
  return containers.find(({env}) => mapsIn(env).some(({name}) => name === 'SCALR_URL')) ?? (containers[0] as Values);
}

/** A pod that goes where that of the template goes, with its image, its rights, its way out and its volumes, and that ends. Pure. */
function probePod(template: PodTemplate, {name, labels, objects, there, url, waitsForBlock, seconds}: ProbeAsk): ProbePod {
  const {spec, metadata} = template;
  const container = speakerOf(template);
  const variables = mapsIn(container['env']) as unknown as Variable[];
  const env = variables.filter((each) => KEPT_VARIABLES.test(each.name));
  const certificates = certificatesOf(variables);
  const path = certificates && 'path' in certificates ? certificates.path : undefined;
  const text = certificates && 'text' in certificates ? certificates.text : undefined;
  const ca = path === undefined ? undefined : mountOf(container, path);
  const data = dataMounts(spec, container);
  const found = mounted(spec, ca ? [...data, ca] : data, {objects, there, configMap: name});
  const caIsThere = ca === undefined || found.mounts.includes(ca);
  const caPath = text === undefined ? path : `${CA_MOUNT.mountPath}/${CA_FILE}`;
  const account = accountOf(spec, objects, there);
  const given: Variable[] = [
    {name: 'PROBE_URL', value: url ?? ''},
    {name: 'PROBE_CA', value: caIsThere ? (caPath ?? '') : ''},
    {name: 'PROBE_METADATA', value: METADATA},
    {name: 'PROBE_TRIES', value: String(waitsForBlock ? TRIES : 1)},
  ];
  const directories = data.map(({mountPath}) => String(mountPath));
  return {
    pod: {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {name, labels, annotations: annotationsOf(metadata)},
      spec: {
        ...picked(spec, KEPT),
        ...account.spec,
        automountServiceAccountToken: false,
        restartPolicy: 'Never',
        // Of what is left when nobody can clean up, nothing runs on.
        activeDeadlineSeconds: seconds,
        terminationGracePeriodSeconds: 1,
        containers: [
          {
            name: PROBE_CONTAINER,
            ...picked(container, KEPT_OF_CONTAINER),
            command: ['/bin/sh', '-c', SCRIPT, 'probe', ...directories],
            env: [...env.filter((each) => caIsThere || !/^ssl_/i.test(each.name)), ...given],
            resources: RESOURCES,
            volumeMounts: [...found.mounts, ...(text === undefined ? [] : [CA_MOUNT])],
          },
        ],
        volumes: [...found.volumes, ...(text === undefined ? [] : [{name: CA_MOUNT.name, configMap: {name}}])],
      },
    } as KubernetesObject,
    data: text === undefined ? found.data : {[CA_FILE]: text},
    hasCertificates: certificates !== undefined && caIsThere,
    notes: [...account.notes, ...found.notes],
    env,
  };
}

/** That of the chart, unless an install makes it first. */
function accountOf(
  {serviceAccountName: name}: Values,
  objects: readonly KubernetesObject[],
  there: ReadonlySet<string>,
): {spec: Values; notes: string[]} {
  const isMade = objects.some(({kind, metadata}) => kind === 'ServiceAccount' && metadata.name === name);
  if (typeof name !== 'string' || !isMade || there.has(`serviceaccounts/${name}`)) return {spec: {}, notes: []};
  return {spec: {serviceAccountName: 'default'}, notes: [`the account default stands in for ${name}, which the install makes`]};
}

/** Some decide about nodes and about what else is put into the pod. Checksums are about objects of the release. */
const annotationsOf = (metadata: PodTemplate['metadata']): Record<string, string> =>
  Object.fromEntries(Object.entries(metadata?.annotations ?? {}).filter(([key]) => !key.startsWith('checksum/')));

type Env = readonly {name: string; value?: string}[];

/** The proxy through which a pod with these variables asks for an address; undefined where it asks directly. */
function proxyFor(url: string, env: Env): string | undefined {
  const {protocol, hostname} = new URL(url);
  const of = (name: string): string =>
    [name.toUpperCase(), name].map((spelled) => env.find((each) => each.name === spelled)?.value).find(Boolean) ?? '';
  const isLeftOut = of('no_proxy')
    .split(',')
    .map((entry) => entry.trim().replace(/^\*?\./, ''))
    .some((entry) => entry !== '' && (entry === '*' || hostname === entry || hostname.endsWith(`.${entry}`)));
  return isLeftOut ? undefined : of(`${protocol.slice(0, -1)}_proxy`) || undefined;
}
