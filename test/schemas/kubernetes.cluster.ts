import {readFileSync} from 'node:fs';
import {expect, inject, test} from 'vitest';
import {kubernetesTypes} from '../../scripts/kubernetes-types.ts';
import {workplace} from '../control-plane/workplace.ts';

test.skipIf(!inject('simulated'))(
  'schemas/kubernetes.json is what Kubernetes says of its types',
  async () => {
    const {kubectl} = await workplace();
    const paths = ['/openapi/v3/api/v1', '/openapi/v3/apis/rbac.authorization.k8s.io/v1'];
    const documents = await Promise.all(
      paths.map(async (path) => JSON.parse(await kubectl('get', '--raw', path))),
    );
    const {definitions} = JSON.parse(
      readFileSync(new URL('../../schemas/kubernetes.json', import.meta.url), 'utf8'),
    );
    expect(kubernetesTypes(documents)).toEqual(definitions);
  },
);
