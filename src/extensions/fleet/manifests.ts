import type {Values} from '../../ground/tree.ts';
import {toYaml} from '../../values/document.ts';
import {type ExportedFile, fill} from '../machine/files.ts';

export const textFile = (path: string, text: string): ExportedFile => ({
  path,
  text,
  isPrivate: false,
});

/** An object of Kubernetes in a file. */
export const manifest = (path: string, header: readonly string[], object: Values): ExportedFile =>
  textFile(path, toYaml(object, {isPlain: true, header}));

/** The same for the texts in an object of templates/export. */
export const filled = <T extends object>(skeleton: T, words: Readonly<Record<string, string>>): T =>
  JSON.parse(JSON.stringify(skeleton), (_, value) =>
    typeof value === 'string' ? fill(value, words) : value,
  ) as T;

export const namespaceObject = (
  {namespace: name, release: part}: {namespace: string; release: string},
  engine: string,
  annotations?: Readonly<Record<string, string>>,
): Values => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: {
    name,
    labels: namespaceLabels(part, engine),
    ...(annotations ? {annotations: {...annotations}} : {}),
  },
});

export const namespaceLabels = (part: string, engine: string): Record<string, string> => ({
  'app.kubernetes.io/name': 'scalr-agent',
  'app.kubernetes.io/part-of': part,
  'app.kubernetes.io/managed-by': engine,
});
