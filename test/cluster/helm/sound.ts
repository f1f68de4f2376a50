import {imagesOf} from '../../../src/charts/images.ts';
import {chartSchema} from '../../../src/charts/releases/schema.ts';
import {isMap, type Tree, type Values} from '../../../src/ground/tree.ts';
import {tokenSecret, tokenSecretKey} from '../../../src/settings/agent.ts';
import {effectiveValues} from '../../../src/values/reading/read-values.ts';
import type {Rendered} from './render.ts';
import {type Container, type KubeObject, type PodTemplate, variableOf} from './workloads.ts';

const QUANTITY = /^\d+(\.\d+)?(m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei)?$/;
const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const LABEL_VALUE = /^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/;
const IMAGE =
  /^([a-z0-9]([-a-z0-9.]*[a-z0-9])?(:\d+)?\/)?[a-z0-9]+([._-]+[a-z0-9]+)*(\/[a-z0-9]+([._-]+[a-z0-9]+)*)*(:[\w][\w.-]{0,127}|@sha256:[0-9a-f]{64})$/;
const EXPONENT = /:\s*"?\d+(\.\d+)?e\+\d+"?\s*$/m;

/** Invariants of a release for any settings. Returns messages of violations. */
export function flaws(rendered: Rendered): string[] {
  const {text, objects, pods, complaints} = rendered;
  return [
    ...(complaints.trim() === '' ? [] : [`helm complains: ${complaints}`]),
    ...['map[', '<no value>', '<nil>']
      .filter((mark) => text.includes(mark))
      .map((mark) => `the manifest holds ${mark}`),
    ...(EXPONENT.test(text) ? [`a number is printed as ${EXPONENT.exec(text)?.[0].trim()}`] : []),
    ...repeated(objects.map(({kind, metadata}) => `${kind} ${metadata.name}`)).map(
      (each) => `${each} is rendered twice`,
    ),
    ...objects.flatMap((object) => flawsOfObject(object)),
    ...unlistedImages(rendered),
    ...pods.flatMap((pod) => [
      ...flawsOfPod(pod),
      ...pod.containers.flatMap((container) => flawsOfContainer(container, rendered)),
    ]),
    ...objects.flatMap((object) =>
      quantities(object)
        .filter(([, value]) => !QUANTITY.test(String(value)))
        .map(([path, value]) => `${object.kind}: ${path} ${value} is no quantity`),
    ),
  ];
}

/** `scalr-agent images` must list exactly the images of the manifest. */
function unlistedImages({target, generated, pods}: Rendered): string[] {
  const containers = pods.flatMap((pod) => pod.containers);
  const rendered = new Set([
    ...containers.map(({image}) => image),
    ...pods.flatMap(({volumes}) =>
      volumes.flatMap(
        (volume) => (volume['image'] as {reference: string} | undefined)?.reference ?? [],
      ),
    ),
    ...containers.flatMap((container) => imageOfRuns(container) ?? []),
  ]);
  const values = effectiveValues(generated.values, target);
  const agentVersion =
    chartSchema(target.chart)['x-releases'].find(({version}) => version === target.version)
      ?.appVersion ?? '';
  const listed = new Set(imagesOf(values, target, agentVersion).map((image) => image.rendered));
  return [
    ...[...rendered]
      .filter((image) => !listed.has(image))
      .map((image) => `image ${image} is not listed`),
    ...[...listed]
      .filter((image) => !rendered.has(image))
      .map((image) => `image ${image} is listed, but not in the manifest`),
  ];
}

/** agent-k8s passes the image of runs to the agent; since it has modes, only one of them uses the image. */
function imageOfRuns(container: Container): string | undefined {
  const mode = variableOf(container, 'SCALR_AGENT_CONTAINER_TASK_IMAGE_MODE');
  return mode === undefined || mode === 'golden'
    ? variableOf(container, 'SCALR_AGENT_CONTAINER_TASK_IMAGE') || undefined
    : undefined;
}

function flawsOfObject(object: KubeObject): string[] {
  const {kind, metadata} = object;
  const name: unknown = metadata.name;
  const selector =
    isMap(object['spec']) && isMap(object['spec']['selector'])
      ? object['spec']['selector']['matchLabels']
      : undefined;
  return [
    ...(typeof name === 'string' && SUBDOMAIN.test(name)
      ? []
      : [`${kind} is called ${JSON.stringify(name)}`]),
    ...texts(metadata['annotations'], `annotation of ${kind}`),
    ...texts(metadata['labels'], `label of ${kind}`, LABEL_VALUE),
    ...texts(selector, `selector of ${kind}`, LABEL_VALUE),
    ...notTexts(object).map((flaw) => `${kind}: ${flaw}`),
    ...(kind === 'Secret' ? flawsOfSecret(object) : []),
  ];
}

/** The token must be in a Secret of the user, never in one of the release. */
const flawsOfSecret = (secret: KubeObject): string[] =>
  Object.entries((secret['data'] ?? {}) as Values).flatMap(([key, value]) => [
    ...(/token/i.test(key) ? [`Secret ${secret.metadata.name} holds ${key}`] : []),
    ...(typeof value === 'string' && /^[A-Za-z0-9+/]+={0,2}$/.test(value)
      ? []
      : [`${key} of Secret ${secret.metadata.name} is no base64`]),
  ]);

function flawsOfPod({owner, labels, spec, volumes}: PodTemplate): string[] {
  const selector =
    ((owner['spec'] as Values)['selector'] as {matchLabels?: Values} | undefined)?.matchLabels ??
    {};
  const seconds = spec['terminationGracePeriodSeconds'];
  return [
    ...repeated(volumes.map(({name}) => name)).map((name) => `two volumes are called ${name}`),
    ...volumes
      .filter((volume) => Object.keys(volume).length !== 2)
      .map(({name}) => `volume ${name} has not exactly one source`),
    ...Object.entries(selector)
      .filter(([key, value]) => labels[key] !== value)
      .map(([key]) => `${owner.kind} does not select its own pods: ${key}`),
    ...(seconds === undefined || Number.isInteger(seconds)
      ? []
      : [`terminationGracePeriodSeconds is ${JSON.stringify(seconds)}`]),
    ...texts(labels, `label of the pods of ${owner.kind}`, LABEL_VALUE),
    ...texts(spec['nodeSelector'], 'nodeSelector', LABEL_VALUE),
    ...texts({account: spec['serviceAccountName'] ?? null}, 'service account', SUBDOMAIN),
  ];
}

function flawsOfContainer(
  {name, image, env, mounts, pod}: Container,
  {generated: {settings}}: Rendered,
): string[] {
  const where = `container ${name} of ${pod.owner.kind}`;
  const token = env
    .filter((variable) => variable.name === 'SCALR_AGENT_TOKEN')
    .map(({valueFrom}) => valueFrom?.secretKeyRef);
  return [
    ...(IMAGE.test(image) ? [] : [`${where} has the image ${image}`]),
    ...repeated(env.map((variable) => variable.name)).map((each) => `${where} sets ${each} twice`),
    ...env
      .filter((variable) => typeof variable.value !== 'string' && !variable.valueFrom)
      .map(
        (variable) =>
          `${where}: the value of ${variable.name} is ${JSON.stringify(variable.value)}`,
      ),
    ...token
      .filter(
        (source) =>
          source?.name !== settings.get(tokenSecret) ||
          source?.key !== settings.get(tokenSecretKey),
      )
      .map((source) => `${where} takes its token from ${JSON.stringify(source)}`),
    ...repeated(mounts.map(({mountPath}) => mountPath)).map(
      (path) => `${where} mounts two volumes at ${path}`,
    ),
    ...mounts
      .filter((mount) => !pod.volumes.some((volume) => volume.name === mount.name))
      .map((mount) => `${where} mounts ${mount.name}, which is no volume`),
    ...mounts.flatMap(({mountPath, subPath}) => [
      ...(typeof mountPath === 'string' && /^\/[^:]*$/.test(mountPath)
        ? []
        : [`${where} mounts at ${JSON.stringify(mountPath)}`]),
      ...(subPath === undefined || (typeof subPath === 'string' && /^(?!\/|.*\.\.)/.test(subPath))
        ? []
        : [`${where} mounts the directory ${JSON.stringify(subPath)}`]),
    ]),
  ];
}

const TEXTS = new Set([
  'name',
  'key',
  'path',
  'image',
  'reference',
  'secretName',
  'claimName',
  'storageClassName',
  'volumeHandle',
  'mountPath',
]);

/** Kubernetes requires strings for these keys, and a template without quotes can write a number. */
function notTexts(tree: Tree): string[] {
  if (Array.isArray(tree)) return tree.flatMap((each) => notTexts(each));
  if (!isMap(tree)) return [];
  return Object.entries(tree).flatMap(([key, below]) =>
    TEXTS.has(key) && !isMap(below) && typeof below !== 'string'
      ? [`${key} is ${JSON.stringify(below)}`]
      : notTexts(below),
  );
}

/** Kubernetes requires strings in these maps. */
const texts = (map: unknown, what: string, pattern = /^/): string[] =>
  Object.entries(isMap(map) ? map : {})
    .filter(([, value]) => typeof value !== 'string' || !pattern.test(value))
    .map(([key, value]) => `${what}: ${key} is ${JSON.stringify(value)}`);

const repeated = (names: readonly string[]): string[] =>
  names.filter((name, index) => names.indexOf(name) !== index);

/** All quantities. */
function quantities(tree: Tree, path = ''): [string, Tree][] {
  if (Array.isArray(tree)) return tree.flatMap((each) => quantities(each, path));
  if (!isMap(tree)) return [];
  return Object.entries(tree).flatMap(([key, below]) =>
    key === 'sizeLimit' || (/\.(requests|limits|capacity)$/.test(path) && !isMap(below))
      ? [[`${path}.${key}`, below] as [string, Tree]]
      : quantities(below, `${path}.${key}`),
  );
}
