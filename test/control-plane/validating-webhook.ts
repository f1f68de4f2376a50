import {readFile} from 'node:fs/promises';
import {dirname, join} from 'node:path';
import {until} from './api.ts';
import {ETCD_ADDRESS} from './programs.ts';
import {rulesFor, serveReviews} from './webhook-server.ts';
import type {Workplace} from './workplace.ts';

/**
 * An admission webhook with side effects that admits everything, so that the API server refuses dry runs. Returns its name.
 * Since Kubernetes 1.22, the API server accepts no new ones, but it obeys those that an older version has stored.
 */
export async function webhookWithSideEffects(place: Workplace): Promise<string> {
  const {name, webhook} = await serveReviews(place, 'validating', 'effects', () => ({
    allowed: true,
  }));
  const stored = {
    ...webhook,
    rules: rulesFor({group: '', resource: 'pods'}).map((each) => ({...each, scope: '*'})),
    sideEffects: 'Some',
    failurePolicy: 'Fail',
    matchPolicy: 'Equivalent',
    objectSelector: {},
    timeoutSeconds: 10,
  };
  await store(place.kubeconfig, `validatingwebhookconfigurations/${name}`, {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingWebhookConfiguration',
    metadata: {
      name,
      uid: crypto.randomUUID(),
      generation: 1,
      creationTimestamp: new Date().toISOString(),
    },
    webhooks: [stored],
  });
  const pod = ['run', 'probe', '--image=probe', '--dry-run=server'];
  await until('dry runs are refused', () =>
    place.kubectl(...pod).then(
      () => false,
      (error: unknown) => String(error).includes('does not support dry run'),
    ),
  );
  return name;
}

/** Writes an object into etcd, past the validation of the API server. */
async function store(kubeconfig: string, key: string, object: object): Promise<void> {
  const address = await readFile(join(dirname(kubeconfig), ETCD_ADDRESS), 'utf8');
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  const response = await fetch(`${address}/v3/kv/put`, {
    method: 'POST',
    body: JSON.stringify({key: base64(`/registry/${key}`), value: base64(JSON.stringify(object))}),
  });
  if (!response.ok) throw new Error(`etcd: ${response.status} ${await response.text()}`);
}
