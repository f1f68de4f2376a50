import {randomBytes} from 'node:crypto';
import {mkdtemp, readFile, rm} from 'node:fs/promises';
import {createServer} from 'node:https';
import type {AddressInfo} from 'node:net';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {json} from 'node:stream/consumers';
import {onTestFinished} from 'vitest';
import {issueCertificates} from './certificates.ts';
import type {Workplace} from './workplace.ts';

interface Review {
  request: {
    uid: string;
    object: {spec: {template: {spec: {containers: readonly {image: string}[]}}}};
  };
}

/** An admission webhook that replaces the registry of all Deployments in a namespace, as image proxies do. Returns its name. */
export async function mirroringWebhook(
  {kubectl, namespace}: Workplace,
  registry: string,
): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'webhook-'));
  const {ca, server} = await issueCertificates(directory);
  const [cert, key, bundle] = await Promise.all(
    [server.cert, server.key, ca.cert].map((path) => readFile(path)),
  );
  const listener = createServer({cert, key}, async (request, response) => {
    const {uid, object} = ((await json(request)) as Review).request;
    const patch = object.spec.template.spec.containers.map(({image}, index) => ({
      op: 'replace',
      path: `/spec/template/spec/containers/${index}/image`,
      value: `${registry}/${image.replace(`${registry}/`, '')}`,
    }));
    const answer = {
      uid,
      allowed: true,
      patchType: 'JSONPatch',
      patch: Buffer.from(JSON.stringify(patch)).toString('base64'),
    };
    response.setHeader('content-type', 'application/json');
    response.end(
      JSON.stringify({
        apiVersion: 'admission.k8s.io/v1',
        kind: 'AdmissionReview',
        response: answer,
      }),
    );
  });
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  const name = `images-${randomBytes(4).toString('hex')}.example.com`;
  onTestFinished(async () => {
    await kubectl('delete', 'mutatingwebhookconfiguration', name);
    listener.close();
    await rm(directory, {recursive: true});
  });
  await kubectl.apply({
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingWebhookConfiguration',
    metadata: {name},
    webhooks: [
      {
        name,
        clientConfig: {
          url: `https://127.0.0.1:${(listener.address() as AddressInfo).port}/`,
          caBundle: bundle?.toString('base64'),
        },
        rules: [
          {
            apiGroups: ['apps'],
            apiVersions: ['v1'],
            operations: ['CREATE', 'UPDATE'],
            resources: ['deployments'],
          },
        ],
        namespaceSelector: {matchLabels: {'kubernetes.io/metadata.name': namespace}},
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
      },
    ],
  });
  return name;
}
