import {once} from 'node:events';
import {startCluster} from './start-cluster.ts';

/** `npm run cluster`: runs a test cluster until Ctrl-C. */
const cluster = await startCluster();
process.stdout.write(`export KUBECONFIG=${cluster.kubeconfig}\n`);
process.stderr.write(`Kubernetes answers at ${cluster.server}. Ctrl-C ends it.\n`);
await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
await cluster.stop();
