/** A CRD of agent-job without a schema of its fields. */
export const definition = (plural: string, kind: string): object => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: {name: `${plural}.scalr.io`},
  spec: {
    group: 'scalr.io',
    scope: 'Namespaced',
    names: {kind, plural, singular: kind.toLowerCase()},
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {openAPIV3Schema: {type: 'object', 'x-kubernetes-preserve-unknown-fields': true}},
      },
    ],
  },
});
