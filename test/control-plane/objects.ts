/** A pod that kwok keeps running, unless an annotation sets its outcome (see stages/). */
export function pod(name: string, {outcome, spec}: {outcome?: string; spec?: object} = {}): object {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {name, annotations: outcome === undefined ? {} : {'test.scalr.io/outcome': outcome}},
    spec: {containers: [{name: 'agent', image: 'scalr/agent:1'}], ...spec},
  };
}

export const deployment = (name: string, replicas: number): object => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: {name},
  spec: {
    replicas,
    selector: {matchLabels: {app: name}},
    template: {
      metadata: {labels: {app: name}},
      spec: {containers: [{name: 'agent', image: 'scalr/agent:1'}]},
    },
  },
});

export const claim = (name: string, storageClassName?: string): object => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: {name},
  spec: {storageClassName, accessModes: ['ReadWriteMany'], resources: {requests: {storage: '1Gi'}}},
});
