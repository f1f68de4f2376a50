import {once} from 'node:events';
import {findHelm} from '../cluster/helm/find-helm.ts';
import {findKubectl} from './kubectl.ts';
import {startCluster} from './start-cluster.ts';

/** `npm run cluster`: runs a test cluster until Ctrl-C. */
if (process.argv.length > 2) {
  process.stderr.write('npm run cluster takes no arguments.\n');
  process.exit(2);
}
const cluster = await startCluster();
const tools = await Promise.all([findHelm(), findKubectl()]).then(
  ([[helm], kubectl]) => `--helm ${helm?.path} --kubectl ${kubectl}`,
  (error: Error) => error.message,
);
process.stdout.write(`export KUBECONFIG=${cluster.kubeconfig}\n`);
process.stderr.write(`Kubernetes answers at ${cluster.server}. Ctrl-C ends it.
Its nodes are simulated: pods become ready, but no container runs.
Flags of scalr-agent for the helm and kubectl of the tests: ${tools}
`);
await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
await cluster.stop();
