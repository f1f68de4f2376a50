import type {KubernetesObject} from '../../../cluster/kubernetes/objects.ts';
import {mapsIn} from '../../../cluster/kubernetes/pod-specs.ts';
import {isPathIn} from '../../../ground/text.ts';
import {getAt, isMap, type Values} from '../../../ground/tree.ts';

export interface ProbeVolumes {
  mounts: readonly Values[];
  volumes: readonly Values[];
  /** Mount paths in which the agent keeps its data and its cache. */
  directories: readonly string[];
  /** The file of certificates to trust. */
  caPath: string | undefined;
  /** Certificates are set, but their Secret does not exist yet. */
  missesCertificates: boolean;
  /** Certificates for the ConfigMap, from a Secret of the chart that does not exist yet, or from a variable. */
  data: Readonly<Record<string, string>> | undefined;
  /** What replaces objects that do not exist yet. */
  notes: readonly string[];
}

interface Cluster {
  /** Everything that the chart creates. */
  objects: readonly KubernetesObject[];
  /** `secrets/name` and `persistentvolumeclaims/name` that can be mounted now. */
  existing: ReadonlySet<string>;
  /** Name of the ConfigMap that holds the certificates. */
  configMap: string;
}

const CA_MOUNT = {name: 'probe-ca', mountPath: '/etc/scalr-agent-probe', readOnly: true};
const CA_FILE = 'ca.crt';

/** Run volumes that the probe mounts, with replacements for objects that the install creates later. Pure. */
export function probeVolumes(spec: Values, container: Values, cluster: Cluster): ProbeVolumes {
  const {path, text} = certificatesOf(container);
  const data = dataMounts(spec, container);
  const caMount = mapsIn(container['volumeMounts']).find(
    ({mountPath}) => path !== undefined && isPathIn(path, String(mountPath)),
  );
  const desired = caMount ? [...data, caMount] : data;
  const found = mapsIn(spec['volumes'])
    .filter(({name}) => desired.some((mount) => mount['name'] === name))
    .map((volume) => replaced(volume, cluster));
  const volumes = found.map(({volume}) => volume).filter((volume) => volume !== undefined);
  const mounts = desired.filter(({name}) => volumes.some((volume) => volume['name'] === name));
  const missesCertificates = caMount !== undefined && !mounts.includes(caMount);
  const mounted = {
    mounts,
    volumes,
    directories: data.map(({mountPath}) => String(mountPath)),
    caPath: missesCertificates ? undefined : path,
    missesCertificates,
    data: found.find((each) => each.data)?.data,
    notes: found.flatMap(({note}) => note ?? []),
  };
  return text === undefined ? mounted : withCertificates(mounted, text, cluster);
}

/** Certificates of a variable become a file. */
const withCertificates = (
  probe: ProbeVolumes,
  text: string,
  {configMap: name}: Cluster,
): ProbeVolumes => ({
  ...probe,
  mounts: [...probe.mounts, CA_MOUNT],
  volumes: [...probe.volumes, {name: CA_MOUNT.name, configMap: {name}}],
  caPath: `${CA_MOUNT.mountPath}/${CA_FILE}`,
  data: {[CA_FILE]: text},
});

/** Kinds of volumes that can be written to. */
const WRITABLE = ['emptyDir', 'hostPath', 'persistentVolumeClaim', 'ephemeral', 'csi', 'nfs'];
const DIRECTORIES = /_(DATA|CACHE)_(DIR|HOME)$/;

/** Mounts of the directories in which the agent keeps its data and its cache. */
function dataMounts(spec: Values, container: Values): Values[] {
  const directories = mapsIn(container['env'])
    .filter(({name}) => DIRECTORIES.test(String(name)))
    .map(({value}) => String(value));
  return mapsIn(container['volumeMounts']).filter(({name, mountPath, readOnly}) => {
    const volume = mapsIn(spec['volumes']).find((each) => each['name'] === name) ?? {};
    const isWritable = readOnly !== true && WRITABLE.some((kind) => kind in volume);
    return isWritable && directories.some((directory) => isPathIn(directory, String(mountPath)));
  });
}

interface VolumeReplacement {
  volume?: Values;
  data?: Readonly<Record<string, string>>;
  note?: string;
}

function replaced(volume: Values, {objects, existing, configMap}: Cluster): VolumeReplacement {
  const name = volume['name'] as string;
  const claim = getAt(volume, ['persistentVolumeClaim', 'claimName']);
  if (typeof claim === 'string' && !existing.has(`persistentvolumeclaims/${claim}`))
    return {
      volume: {name, emptyDir: {}},
      note: `uses an emptyDir instead of PVC ${claim}, which cannot be mounted yet`,
    };
  const directory = getAt(volume, ['hostPath', 'path']);
  if (typeof directory === 'string')
    return {volume, note: `leaves the directory ${directory} on the node, as an install would`};
  const secret = volume['secret'];
  if (!isMap(secret)) return {volume};
  const {secretName, ...rest} = secret;
  const created = objects.find(
    ({kind, metadata}) => kind === 'Secret' && metadata.name === secretName,
  );
  const data = created && publicDataOf(created);
  if (data) return {volume: {name, configMap: {name: configMap, ...rest}}, data};
  if (existing.has(`secrets/${secretName}`)) return {volume};
  return {note: `ignores the certificates in Secret ${secretName}, which does not exist yet`};
}

/** Variables that name the certificates of the agent, over the versions of the charts. */
const VARIABLES = ['SCALR_AGENT_CA_CERT', 'SCALR_CA_CERT', 'SSL_CERT_FILE'];

/** The certificates that a container trusts: in a file, or in the variable itself. */
function certificatesOf(container: Values): {path?: string; text?: string} {
  const env = mapsIn(container['env']);
  const value = VARIABLES.map((name) => env.find((each) => each['name'] === name)?.['value']).find(
    Boolean,
  );
  if (typeof value !== 'string') return {};
  if (value.startsWith('/')) return {path: value};
  const text = value.includes('-----BEGIN') ? value : decoded(value);
  return isPublic(text) ? {text} : {};
}

/** Content of a Secret of the chart that contains only certificates. */
function publicDataOf(
  secret: KubernetesObject & {data?: Values; stringData?: Record<string, string>},
): Record<string, string> | undefined {
  const data = Object.entries(secret.data ?? {}).map(([key, base64]) => [
    key,
    decoded(String(base64)),
  ]);
  const texts: Record<string, string> = {...Object.fromEntries(data), ...secret.stringData};
  return Object.keys(texts).length > 0 && Object.values(texts).every(isPublic) ? texts : undefined;
}

const isPublic = (text: string): boolean =>
  text.includes('-----BEGIN CERTIFICATE-----') && !text.includes('PRIVATE KEY');

const decoded = (base64: string): string => Buffer.from(base64, 'base64').toString('utf8');
