import {isMap, type Values} from '../../../src/ground/tree.ts';

/** One rendered Kubernetes object. */
export type KubeObject = Values & {kind: string; metadata: {name: string} & Values};

/** Roles of containers in the three charts: docs/charts/README.md, "Terms". */
export type Role = 'controller' | 'worker' | 'agent' | 'runner';

export interface PodTemplate {
  owner: KubeObject;
  labels: Readonly<Record<string, string>>;
  annotations: Readonly<Record<string, string>>;
  spec: Values;
  volumes: readonly Volume[];
  containers: readonly Container[];
}

export type Volume = Values & {name: string};

export interface Mount {
  name: string;
  mountPath: string;
  subPath?: string;
  readOnly?: boolean;
}

export interface Variable {
  name: string;
  value?: string;
  valueFrom?: {secretKeyRef?: {name: string; key: string}};
}

export interface Container {
  role: Role;
  name: string;
  image: string;
  pullPolicy: string;
  securityContext: Values;
  env: readonly Variable[];
  mounts: readonly Mount[];
  resources: {requests?: Values; limits?: Values};
  pod: PodTemplate;
}

/** All pod templates of a release, including those in custom resources of agent-job. */
export function podTemplates(objects: readonly KubeObject[]): PodTemplate[] {
  return objects.flatMap((owner) => {
    const spec = mapOf(owner['spec']);
    const template = isMap(spec['template'])
      ? spec['template']
      : mapOf(mapOf(mapOf(spec['jobTemplate'])['spec'])['template']);
    return isMap(template['spec']) ? [podTemplate(owner, template, template['spec'])] : [];
  });
}

const mapOf = (tree: unknown): Values => (isMap(tree) ? tree : {});
const listOf = (tree: unknown): Values[] => (Array.isArray(tree) ? (tree as Values[]) : []);

function podTemplate(owner: KubeObject, template: Values, spec: Values): PodTemplate {
  const containers: Container[] = [];
  const pod: PodTemplate = {
    owner,
    labels: mapOf(mapOf(template['metadata'])['labels']) as Record<string, string>,
    annotations: mapOf(mapOf(template['metadata'])['annotations']) as Record<string, string>,
    spec,
    volumes: listOf(spec['volumes']) as Volume[],
    containers,
  };
  for (const raw of [...listOf(spec['initContainers']), ...listOf(spec['containers'])]) {
    containers.push({
      role: roleOf(owner, String(raw['name'])),
      name: String(raw['name']),
      image: String(raw['image']),
      pullPolicy: String(raw['imagePullPolicy']),
      securityContext: mapOf(raw['securityContext']),
      env: listOf(raw['env']) as unknown as Variable[],
      mounts: listOf(raw['volumeMounts']) as unknown as Mount[],
      resources: mapOf(raw['resources']),
      pod,
    });
  }
  return pod;
}

function roleOf(owner: KubeObject, container: string): Role {
  if (owner.kind === 'DaemonSet') return 'worker';
  if (owner.kind === 'Deployment') return container === 'agent-local' ? 'agent' : 'controller';
  return container === 'runner' ? 'runner' : 'worker';
}

/** Value of a variable from any source; undefined if not set. */
export function variableOf(container: Container, name: string): string | undefined {
  return container.env.find((each) => each.name === name)?.value;
}

/** Volume, and path inside it, that is mounted at a path of the container. */
export function mountedAt(
  container: Container,
  path: string | undefined,
): {volume: Volume | undefined; mount: Mount} | undefined {
  const mount = container.mounts.find((each) => each.mountPath === path);
  return (
    mount && {mount, volume: container.pod.volumes.find((volume) => volume.name === mount.name)}
  );
}

/** True if the policy selects the pods. */
export function selects(policy: KubeObject, pod: PodTemplate): boolean {
  const labels = mapOf(mapOf(mapOf(policy['spec'])['podSelector'])['matchLabels']);
  return Object.entries(labels).every(([key, value]) => pod.labels[key] === value);
}
