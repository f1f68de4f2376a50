import type {SchemaNode} from '../src/charts/releases/schema.ts';

/** An OpenAPI v3 document as an API server serves it. */
export interface OpenApi {
  components: {schemas: Readonly<Record<string, Field>>};
}

interface Field {
  $ref?: string;
  allOf?: readonly Field[];
  type?: string;
  properties?: Readonly<Record<string, Field>>;
  items?: Field;
  additionalProperties?: Field;
  required?: readonly string[];
  enum?: readonly string[];
  'x-kubernetes-list-map-keys'?: readonly string[];
}

/** The types that values name with `x-kubernetes`, and the field of Kubernetes that each stands for. */
const ROOTS: Readonly<Record<string, readonly [type: string, field: string]>> = {
  Affinity: ['PodSpec', 'affinity'],
  'Container[]': ['PodSpec', 'containers'],
  'EnvFromSource[]': ['Container', 'envFrom'],
  'EnvVar[]': ['Container', 'env'],
  'LocalObjectReference[]': ['PodSpec', 'imagePullSecrets'],
  PodSecurityContext: ['PodSpec', 'securityContext'],
  'PolicyRule[]': ['Role', 'rules'],
  ResourceRequirements: ['Container', 'resources'],
  SecurityContext: ['Container', 'securityContext'],
  'Toleration[]': ['PodSpec', 'tolerations'],
  'TopologySpreadConstraint[]': ['PodSpec', 'topologySpreadConstraints'],
  'Volume[]': ['PodSpec', 'volumes'],
  'VolumeMount[]': ['Container', 'volumeMounts'],
};

/** What is a text or a number on the wire although OpenAPI spells it out. */
const SCALARS: Readonly<Record<string, SchemaNode>> = {
  Quantity: {type: ['string', 'number'], format: 'quantity'},
  IntOrString: {type: ['integer', 'string']},
  Time: {type: 'string'},
  FieldsV1: {type: 'object', additionalProperties: true},
};

/** The roots and all they refer to, without descriptions. Pure. */
export function kubernetesTypes(documents: readonly OpenApi[]): Record<string, SchemaNode> {
  const known = new Map(
    documents.flatMap(({components}) =>
      Object.entries(components.schemas).map(([name, field]) => [shortName(name), field] as const),
    ),
  );
  const types: Record<string, SchemaNode> = {};

  function typeOf(name: string): Field {
    const found = known.get(name);
    if (found === undefined) throw new Error(`The documents hold no type ${name}.`);
    return found;
  }

  function refer(reference: string): SchemaNode {
    const name = shortName(reference);
    if (SCALARS[name]) return SCALARS[name];
    if (types[name] === undefined) {
      types[name] = {};
      types[name] = convert(typeOf(name));
    }
    return {$ref: `#/definitions/${name}`};
  }

  function convert(field: Field): SchemaNode {
    const reference = field.$ref ?? field.allOf?.[0]?.$ref;
    if (reference) return refer(reference);
    return {
      ...(field.type ? {type: field.type} : {}),
      ...(field.enum ? {enum: field.enum} : {}),
      ...(field.required ? {required: field.required} : {}),
      ...(field['x-kubernetes-list-map-keys']
        ? {'x-kubernetes-list-map-keys': field['x-kubernetes-list-map-keys']}
        : {}),
      ...(field.items ? {items: convert(field.items)} : {}),
      ...(field.additionalProperties
        ? {additionalProperties: convert(field.additionalProperties)}
        : {}),
      ...(field.properties
        ? {
            additionalProperties: false,
            properties: Object.fromEntries(
              Object.entries(field.properties).map(([key, each]) => [key, convert(each)]),
            ),
          }
        : {}),
    };
  }

  const roots = Object.entries(ROOTS).map(([name, [type, field]]): [string, SchemaNode] => {
    const found = typeOf(type).properties?.[field];
    if (found === undefined) throw new Error(`${type} has no field ${field}.`);
    return [name, convert(found)];
  });
  for (const [name, node] of roots) types[name] ??= node;
  return Object.fromEntries(
    Object.entries(types).toSorted(([one], [other]) => (one < other ? -1 : 1)),
  );
}

const shortName = (name: string): string => name.split('.').at(-1) as string;
