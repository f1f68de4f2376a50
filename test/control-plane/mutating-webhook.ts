import type {KubernetesObject} from '../../src/cluster/kubernetes/objects.ts';
import {until} from './api.ts';
import {rulesFor, serveReviews} from './webhook-server.ts';
import type {Workplace} from './workplace.ts';

interface PatchOperation {
  op: 'add' | 'replace';
  path: string;
  value: unknown;
}

/** An admission webhook that replaces the registry of all Deployments in a namespace, as image proxies do. Returns its name. */
export const mirroringWebhook = (place: Workplace, registry: string): Promise<string> =>
  mutatingWebhook(place, 'images', {group: 'apps', resource: 'deployments'}, (object) =>
    (
      object as unknown as {spec: {template: {spec: {containers: readonly {image: string}[]}}}}
    ).spec.template.spec.containers.map(({image}, index) => ({
      op: 'replace',
      path: `/spec/template/spec/containers/${index}/image`,
      value: `${registry}/${image.replace(`${registry}/`, '')}`,
    })),
  );

/** An admission webhook that adds a container to all pods in a namespace but those whose label opts out, as a service mesh does. */
export async function injectingWebhook(place: Workplace, container: string): Promise<void> {
  await mutatingWebhook(place, 'sidecars', {group: '', resource: 'pods'}, ({metadata}) =>
    metadata.labels?.['sidecar.istio.io/inject'] === 'false'
      ? []
      : [{op: 'add', path: '/spec/containers/-', value: {name: container, image: 'proxyv2'}}],
  );
  const pod = ['run', 'probe', '--image=probe', '--dry-run=server', '--output=json'];
  await until('containers are injected', async () =>
    (await place.kubectl(...pod)).includes(`"${container}"`),
  );
}

async function mutatingWebhook(
  place: Workplace,
  word: string,
  rule: {group: string; resource: string},
  patchOf: (object: KubernetesObject) => PatchOperation[],
): Promise<string> {
  const {name, webhook} = await serveReviews(place, 'mutating', word, (object) => ({
    allowed: true,
    patchType: 'JSONPatch',
    patch: Buffer.from(JSON.stringify(patchOf(object))).toString('base64'),
  }));
  await place.kubectl.apply({
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingWebhookConfiguration',
    metadata: {name},
    webhooks: [{...webhook, rules: rulesFor(rule), sideEffects: 'None'}],
  });
  return name;
}
