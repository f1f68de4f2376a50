import {devNull} from 'node:os';
import {execa} from 'execa';
import {isScalar, parseAllDocuments, type Tags} from 'yaml';
import type {Target} from '../../../src/charts/releases/target.ts';
import {isMap} from '../../../src/ground/tree.ts';
import {namespace, release} from '../../../src/settings/release.ts';
import {valuesDocument} from '../../../src/values/document.ts';
import type {GeneratedValues} from '../../../src/values/generate.ts';
import type {Helm} from './find-helm.ts';
import {
  type Container,
  type KubeObject,
  type PodTemplate,
  podTemplates,
  type Role,
} from './workloads.ts';

/** agent-job requires Kubernetes 1.35 from 0.6.4 on. */
const KUBERNETES = '1.35.4';

/** Result of helm template with generated values. */
export interface Rendered {
  target: Target;
  generated: GeneratedValues;
  release: string;
  /** Output of helm template. */
  text: string;
  /** Warnings of helm; must be empty. */
  complaints: string;
  objects: readonly KubeObject[];
  pods: readonly PodTemplate[];
  /** Containers of these roles (default: all). */
  containers(...roles: Role[]): Container[];
  ofKind(kind: string): KubeObject[];
}

/** Renders the chart in a directory with real helm. @throws Error with the output of helm */
export async function render(
  helm: Helm,
  chartDirectory: string,
  generated: GeneratedValues,
): Promise<Rendered> {
  const name = generated.settings.get(release) as string;
  const {stdout, stderr, failed} = await execa(
    helm.path,
    [
      'template',
      name,
      chartDirectory,
      '--namespace',
      generated.settings.get(namespace) as string,
      '--values',
      '-',
      '--kube-version',
      KUBERNETES,
    ],
    {input: valuesDocument(generated), reject: false, extendEnv: false, env: OWN_HELM},
  );
  if (failed) throw new Error(`helm refuses the values: ${stderr}`);
  const objects = parseManifest(stdout);
  const pods = podTemplates(objects);
  return {
    target: generated.target,
    generated,
    release: name,
    text: stdout,
    complaints: stderr,
    objects,
    pods,
    containers: (...roles) =>
      pods
        .flatMap((pod) => pod.containers)
        .filter(({role}) => roles.length === 0 || roles.includes(role)),
    ofKind: (kind) => objects.filter((object) => object.kind === kind),
  };
}

/** Isolates helm from plugins, repositories and clusters of the user. */
const OWN_HELM = {PATH: process.env['PATH'] ?? '', HOME: '/nowhere', KUBECONFIG: devNull};

/** YAML 1.1 like Helm: an unquoted `on` is a boolean, dates and times are strings. */
function parseManifest(manifest: string): KubeObject[] {
  const documents = parseAllDocuments(manifest, {
    version: '1.1',
    uniqueKeys: isRepeated,
    customTags: (tags) => tags.filter(isKnownToHelm),
  });
  if (!Array.isArray(documents)) return [];
  return documents.flatMap((document) => {
    const [error] = document.errors;
    if (error) throw new Error(`the manifest is no valid YAML: ${error.message}`);
    const object: unknown = document.toJS();
    return isMap(object) ? [object as KubeObject] : [];
  });
}

/** agent-job up to 0.5.63 writes its labels twice; in Helm, the last one wins. */
const isRepeated = (one: unknown, other: unknown): boolean => {
  const name = (key: unknown): string => String(isScalar(key) ? key.value : key);
  return name(one) === name(other) && !name(one).startsWith('app.kubernetes.io/');
};

const isKnownToHelm = (tag: Tags[number]): boolean =>
  typeof tag === 'string' ||
  (tag.tag !== 'tag:yaml.org,2002:timestamp' && (!('format' in tag) || tag.format !== 'TIME'));
