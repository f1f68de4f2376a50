import {kubernetesClient} from '../../../src/cluster/kubernetes/connect.ts';

/** `holds-api.cli.ts KUBECONFIG KUBECTL`: opens the API, says what it got, and lives on until it is killed. */
const [kubeconfig = '', kubectl = ''] = process.argv.slice(2);
const signal = new AbortController().signal;
const api = kubernetesClient({kubeconfig, namespace: 'default'}, {kubectl});
process.stdout.write(`${JSON.stringify(await api.get('/version', {signal}))}\n`);
setInterval(() => undefined, 1000);
