import kubernetes from '../../schemas/kubernetes.json' with {type: 'json'};
import type {SchemaNode} from './schema.ts';

const DEFINITIONS = kubernetes.definitions as unknown as Readonly<Record<string, SchemaNode>>;

/** A type by the name that `x-kubernetes` or `$ref` gives; undefined for Labels and Annotations, which are maps of texts. */
export const kubernetesType = (name: string): SchemaNode | undefined => DEFINITIONS[name];

/** The name of the type a node refers to. */
export const referredType = (node: SchemaNode | undefined): string | undefined => node?.$ref?.replace('#/definitions/', '');
