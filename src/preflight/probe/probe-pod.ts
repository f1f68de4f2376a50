import {isMap, type Tree, type Values} from '../../charts/tree.ts';
import type {KubernetesObject} from '../../cluster/objects.ts';
import type {PodTemplate} from '../../cluster/pod-specs.ts';
import {PROBE_CONTAINER} from '../../cluster/probe.ts';
import {certificatesOf} from './certificates.ts';
import {SCRIPT} from './script.ts';
import {dataMounts, mounted, mountOf} from './volumes.ts';

export interface ProbeAsk {
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

export interface ProbePod {
  pod: KubernetesObject;
  /** Certificates that the pod mounts from a ConfigMap of its name. */
  data?: Readonly<Record<string, string>> | undefined;
  hasCertificates: boolean;
  notes: readonly string[];
  env: readonly {name: string; value?: string}[];
}

export const METADATA = 'http://169.254.169.254/';

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

const mapsIn = (tree: Tree | undefined): Values[] => (Array.isArray(tree) ? tree.filter(isMap) : []);
const picked = (tree: Values, keys: readonly string[]): Values =>
  Object.fromEntries(keys.flatMap((key) => (tree[key] === undefined || tree[key] === null ? [] : [[key, tree[key]]])));

/** Of the containers of a run the one that speaks to Scalr. */
export function speakerOf({spec}: PodTemplate): Values {
  const containers = mapsIn(spec['containers']);
  return containers.find(({env}) => mapsIn(env).some(({name}) => name === 'SCALR_URL')) ?? (containers[0] as Values);
}

/** A pod that goes where that of the template goes, with its image, its rights, its way out and its volumes, and that ends. Pure. */
export function probePod(template: PodTemplate, {name, labels, objects, there, url, waitsForBlock, seconds}: ProbeAsk): ProbePod {
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
