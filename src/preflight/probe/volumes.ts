import {getAt, isMap, type Tree, type Values} from '../../charts/tree.ts';
import type {KubernetesObject} from '../../cluster/objects.ts';
import {mapsIn} from '../referenced-objects.ts';

/** What of a pod the probe mounts. */
export interface Mounted {
  mounts: readonly Values[];
  volumes: readonly Values[];
  /** Certificates that lie in a Secret of the chart, which is not there yet. */
  data?: Readonly<Record<string, string>> | undefined;
  /** What stands in for what is not there yet. */
  notes: readonly string[];
}

interface Around {
  objects: readonly KubernetesObject[];
  /** `secrets/name` and `persistentvolumeclaims/name` that can be mounted now. */
  there: ReadonlySet<string>;
  /** Of the ConfigMap that holds what the chart would put into a Secret. */
  configMap: string;
}

/** Kinds of volumes that keep what is written to them, for a while at least. */
const WRITABLE = ['emptyDir', 'hostPath', 'persistentVolumeClaim', 'ephemeral', 'csi', 'nfs'];

const DIRECTORIES = /_(DATA|CACHE)_(DIR|HOME)$/;

const volumeOf = (spec: Values, mount: Values): Values | undefined => mapsIn(spec['volumes']).find(({name}) => name === mount['name']);

const isWithin = (path: string, directory: string): boolean => path === directory || path.startsWith(`${directory.replace(/\/$/, '')}/`);

/** Mounts of the directories in which the agent keeps its data and its cache. */
export function dataMounts(spec: Values, container: Values): Values[] {
  const directories = mapsIn(container['env'])
    .filter(({name}) => DIRECTORIES.test(String(name)))
    .map(({value}) => String(value));
  return mapsIn(container['volumeMounts']).filter((mount) => {
    const volume = volumeOf(spec, mount) ?? {};
    return (
      mount['readOnly'] !== true &&
      WRITABLE.some((kind) => kind in volume) &&
      directories.some((directory) => isWithin(directory, String(mount['mountPath'])))
    );
  });
}

/** The mount in which a file lies. */
export const mountOf = (container: Values, path: string): Values | undefined =>
  mapsIn(container['volumeMounts']).find(({mountPath}) => isWithin(path, String(mountPath)));

/** The volumes of these mounts, with something in place of what an install makes first. Pure. */
export function mounted(spec: Values, mounts: readonly Values[], around: Around): Mounted {
  const named = mapsIn(spec['volumes']).filter(({name}) => mounts.some((mount) => mount['name'] === name));
  const found = named.map((volume) => standIn(volume, around));
  const volumes = found.map(({volume}) => volume).filter((volume) => volume !== undefined);
  return {
    mounts: mounts.filter(({name}) => volumes.some((volume) => volume['name'] === name)),
    volumes,
    data: found.find(({data}) => data)?.data,
    notes: found.flatMap(({note}) => note ?? []),
  };
}

interface StandIn {
  volume?: Values;
  data?: Readonly<Record<string, string>> | undefined;
  note?: string;
}

function standIn(volume: Values, {objects, there, configMap}: Around): StandIn {
  const name = volume['name'] as string;
  const claim = getAt(volume, ['persistentVolumeClaim', 'claimName']);
  if (typeof claim === 'string' && !there.has(`persistentvolumeclaims/${claim}`))
    return {volume: {name, emptyDir: {}}, note: `an empty volume stands in for the claim ${claim}, which cannot be mounted yet`};
  const directory = getAt(volume, ['hostPath', 'path']);
  if (typeof directory === 'string') return {volume, note: `${directory} stays on the node, as the install would make it`};
  const secret = volume['secret'];
  if (!isMap(secret)) return {volume};
  const {secretName, ...rest} = secret;
  const made = objects.find(({kind, metadata}) => kind === 'Secret' && metadata.name === secretName);
  const data = made && publicDataOf(made);
  if (data) return {volume: {name, configMap: {name: configMap, ...rest}}, data};
  if (there.has(`secrets/${secretName}`)) return {volume};
  return {note: `the Secret ${secretName} is not there yet, so its certificates are left out`};
}

/** Variables by which the agent knows its certificates, over the versions of the charts. */
const VARIABLES = ['SCALR_AGENT_CA_CERT', 'SCALR_CA_CERT', 'SSL_CERT_FILE'];

/** Where the container has the certificates that it trusts: a file of its own, or in the variable itself. */
export function certificatesOf(env: readonly {name: string; value?: string}[]): {path: string} | {text: string} | undefined {
  const value = VARIABLES.map((name) => env.find((each) => each.name === name)?.value).find(Boolean);
  if (value === undefined) return undefined;
  if (value.startsWith('/')) return {path: value};
  const text = value.includes('-----BEGIN') ? value : decoded(value);
  return isPublic(text) ? {text} : undefined;
}

/** What a Secret of the chart holds, where that is nothing but certificates. */
function publicDataOf(secret: KubernetesObject & {data?: Tree; stringData?: Tree}): Record<string, string> | undefined {
  const texts: Record<string, string> = {
    ...mapped(secret.data, decoded),
    ...mapped(secret.stringData, (text) => text),
  };
  return Object.keys(texts).length > 0 && Object.values(texts).every(isPublic) ? texts : undefined;
}

const isPublic = (text: string): boolean => text.includes('-----BEGIN CERTIFICATE-----') && !text.includes('PRIVATE KEY');

const decoded = (base64: string): string => Buffer.from(base64, 'base64').toString('utf8');

const mapped = (tree: Tree | undefined, read: (text: string) => string): Record<string, string> =>
  isMap(tree) ? Object.fromEntries(Object.entries(tree as Values).map(([key, value]) => [key, read(String(value))])) : {};
