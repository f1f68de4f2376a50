import {randomBytes} from 'node:crypto';
import {mkdtemp, readFile, rm} from 'node:fs/promises';
import {createServer} from 'node:https';
import type {AddressInfo} from 'node:net';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {json} from 'node:stream/consumers';
import {onTestFinished} from 'vitest';
import type {KubernetesObject} from '../../src/cluster/kubernetes/objects.ts';
import {issueCertificates} from './certificates.ts';
import type {Workplace} from './workplace.ts';

interface Review {
  request: {uid: string; object: KubernetesObject};
}

/** Answers the reviews of an admission webhook until the test ends. Returns its name, and what its configuration says about all webhooks. */
export async function serveReviews(
  {kubectl, namespace}: Workplace,
  kind: 'mutating' | 'validating',
  word: string,
  answer: (object: KubernetesObject) => object,
) {
  const directory = await mkdtemp(join(tmpdir(), 'webhook-'));
  const {ca, server} = await issueCertificates(directory);
  const [cert, key, bundle] = await Promise.all(
    [server.cert, server.key, ca.cert].map((path) => readFile(path)),
  );
  const listener = createServer({cert, key}, async (request, response) => {
    const {uid, object} = ((await json(request)) as Review).request;
    response.setHeader('content-type', 'application/json');
    response.end(
      JSON.stringify({
        apiVersion: 'admission.k8s.io/v1',
        kind: 'AdmissionReview',
        response: {uid, ...answer(object)},
      }),
    );
  });
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  const name = `${word}-${randomBytes(4).toString('hex')}.example.com`;
  onTestFinished(async () => {
    await kubectl('delete', `${kind}webhookconfiguration`, name);
    listener.close();
    await rm(directory, {recursive: true});
  });
  const webhook = {
    name,
    clientConfig: {
      url: `https://127.0.0.1:${(listener.address() as AddressInfo).port}/`,
      caBundle: bundle?.toString('base64'),
    },
    namespaceSelector: {matchLabels: {'kubernetes.io/metadata.name': namespace}},
    admissionReviewVersions: ['v1'],
  };
  return {name, webhook};
}

export const rulesFor = ({group, resource}: {group: string; resource: string}): object[] => [
  {
    apiGroups: [group],
    apiVersions: ['v1'],
    operations: ['CREATE', 'UPDATE'],
    resources: [resource],
  },
];
