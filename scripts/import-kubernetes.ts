import {readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {kubernetesTypes, type OpenApi} from './kubernetes-types.ts';

/**
 * Takes the types that values hold out of what an API server says of itself: `npm run import-kubernetes -- VERSION FILE...`,
 * the files made by `kubectl get --raw /openapi/v3/api/v1` and `kubectl get --raw /openapi/v3/apis/rbac.authorization.k8s.io/v1`.
 */
const [version, ...files] = process.argv.slice(2);
if (version === undefined || files.length === 0) {
  process.stderr.write('Usage: npm run import-kubernetes -- VERSION FILE...\n');
  process.exit(2);
}
const documents = files.map((file): OpenApi => JSON.parse(readFileSync(file, 'utf8')));
const definitions = kubernetesTypes(documents);
const file = join(import.meta.dirname, '../schemas/kubernetes.json');
writeFileSync(
  file,
  `${JSON.stringify({$schema: 'https://json-schema.org/draft/2020-12/schema', title: `Types of Kubernetes ${version} that values of the charts hold`, definitions}, null, 1)}\n`,
);
