import {createHash} from 'node:crypto';
import {devNull} from 'node:os';
import {execa} from 'execa';
import {parse, type Tags} from 'yaml';
import {isMap, type Values} from '../../../src/ground/tree.ts';
import {findKubectl} from '../../control-plane/kubectl.ts';
import {findHelm} from './find-helm.ts';

/** Reason why Helm or Kubernetes rejects a values file for a chart directory; undefined if both accept it. */
export type Refusal = (chart: string, values: string) => Promise<string | undefined>;

/** Renders with helm and sends the manifest to the API as a dry run, like `helm install`. */
export async function refusalIn(
  kubeconfig: string,
  namespace: string,
): Promise<Refusal & {stop(): void}> {
  const helm = (await findHelm())[0]?.path as string;
  const proxy = execa(await findKubectl(), ['--kubeconfig', kubeconfig, 'proxy', '--port=0'], {
    reject: false,
  });
  const server = await addressOf(proxy.stdout);
  const known = new Map<string, Promise<string | undefined>>();
  const send = (kind: string, name: unknown, body: string): Promise<string | undefined> => {
    const [group, plural, isGlobal] = KINDS[kind] ?? [];
    if (group === undefined) return Promise.resolve(`nobody knows the kind ${kind}`);
    if (typeof name !== 'string' || !/^[^/%]+$/.test(name))
      return Promise.resolve(`${kind} is called ${JSON.stringify(name)}`);
    const place = `${server}/${group}${isGlobal ? '' : `/namespaces/${namespace}`}/${plural}/${encodeURIComponent(name)}`;
    const key = createHash('sha1').update(place).update(body).digest('hex');
    // Most objects are the same as in the previous file.
    const answer =
      known.get(key) ??
      answerOf(`${place}?fieldManager=helm&dryRun=All&force=true&fieldValidation=Ignore`, body);
    known.set(key, answer);
    return answer;
  };
  const refusal: Refusal = async (chart, values) => {
    const args = [
      'template',
      'prod',
      chart,
      '--namespace',
      namespace,
      '--values',
      '-',
      '--kube-version',
      '1.35.4',
    ];
    const {stdout, stderr, failed} = await execa(helm, args, {
      input: values,
      reject: false,
      extendEnv: false,
      env: {HOME: '/nowhere', KUBECONFIG: devNull},
    });
    const complaint = failed
      ? stderr
      : stderr.split('\n').find((line) => LOST.test(line) && !HARMLESS.test(line));
    if (complaint !== undefined) return `helm: ${complaint.trim().split('\n').at(-1)}`;
    const names = new Set<string>();
    for (const text of stdout
      .split(/^---.*$/m)
      .filter((each) => each.replaceAll(/^#.*$/gm, '').trim() !== '')) {
      const object: unknown = read(text);
      if (!isMap(object)) return 'a document of the manifest is no object';
      const {kind, metadata} = object as {kind: string; metadata?: Values};
      const id = `${kind} ${metadata?.['name']}`;
      if (names.has(id)) return `${id} is there twice`;
      names.add(id);
      const job = jobIn(object);
      const answer = job
        ? await send('Job', metadata?.['name'], JSON.stringify(job))
        : await send(kind, metadata?.['name'], text);
      if (answer !== undefined) return `${id}: ${answer}`;
    }
    return undefined;
  };
  return Object.assign(refusal, {stop: () => proxy.kill()});
}

/** Messages of Helm when it drops a part of a file. */
const LOST = /cannot overwrite|destination for|skipped value/;
/** The default is a map where Kubernetes requires a list; the list is rendered. */
const HARMLESS = /topologySpreadConstraints/;

const KINDS: Readonly<Record<string, [group: string, plural: string, isGlobal?: boolean]>> = {
  ClusterRole: ['apis/rbac.authorization.k8s.io/v1', 'clusterroles', true],
  ClusterRoleBinding: ['apis/rbac.authorization.k8s.io/v1', 'clusterrolebindings', true],
  DaemonSet: ['apis/apps/v1', 'daemonsets'],
  Deployment: ['apis/apps/v1', 'deployments'],
  Job: ['apis/batch/v1', 'jobs'],
  NetworkPolicy: ['apis/networking.k8s.io/v1', 'networkpolicies'],
  PersistentVolume: ['api/v1', 'persistentvolumes', true],
  PersistentVolumeClaim: ['api/v1', 'persistentvolumeclaims'],
  PodDisruptionBudget: ['apis/policy/v1', 'poddisruptionbudgets'],
  Role: ['apis/rbac.authorization.k8s.io/v1', 'roles'],
  RoleBinding: ['apis/rbac.authorization.k8s.io/v1', 'rolebindings'],
  Secret: ['api/v1', 'secrets'],
  ServiceAccount: ['api/v1', 'serviceaccounts'],
  StorageClass: ['apis/storage.k8s.io/v1', 'storageclasses', true],
};

/** The Job in a custom resource of agent-job, which Kubernetes does not validate. */
function jobIn({kind, metadata, spec}: Values): object | undefined {
  if (!/^Agent(TaskTemplate|Task|Worker)$/.test(String(kind))) return undefined;
  const template = isMap(spec) && isMap(spec['jobTemplate']) ? spec['jobTemplate'] : {};
  // Up to 0.6.1, the templates add it, and the agent ignores it.
  const {restartPolicy: _, ...job} = isMap(template['spec']) ? template['spec'] : {};
  const {labels, annotations} = {
    ...(isMap(metadata) ? metadata : {}),
    ...(isMap(template['metadata']) ? template['metadata'] : {}),
  };
  const name = isMap(metadata) ? metadata['name'] : undefined;
  return {apiVersion: 'batch/v1', kind: 'Job', metadata: {name, labels, annotations}, spec: job};
}

/** YAML 1.1 without timestamps, like Helm; the last of duplicate keys wins. */
const read = (text: string): unknown => {
  try {
    return parse(text, {
      version: '1.1',
      uniqueKeys: false,
      logLevel: 'error',
      customTags: (tags) => tags.filter(isKnownToHelm),
    });
  } catch {
    return undefined;
  }
};

const isKnownToHelm = (tag: Tags[number]): boolean =>
  typeof tag === 'string' ||
  (tag.tag !== 'tag:yaml.org,2002:timestamp' && (!('format' in tag) || tag.format !== 'TIME'));

async function answerOf(url: string, body: string): Promise<string | undefined> {
  const response = await fetch(url, {
    method: 'PATCH',
    headers: {'content-type': 'application/apply-patch+yaml'},
    body,
  });
  const answer = (await response.json()) as {message?: string};
  return response.ok ? undefined : answer.message;
}

async function addressOf(output: AsyncIterable<unknown>): Promise<string> {
  for await (const chunk of output) {
    const [address] = /127\.0\.0\.1:\d+/.exec(String(chunk)) ?? [];
    if (address) return `http://${address}`;
  }
  throw new Error('kubectl proxy does not start.');
}
