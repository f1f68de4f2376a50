import {kubernetesClient} from '../../../src/cluster/kubernetes/connect.ts';
import {handleInterrupts} from '../../../src/ground/system/this-process.ts';
import {zipArchives} from '../../../src/ground/system/zip-archive.ts';

/** `collects.cli.ts KUBECONFIG KUBECTL ZIP LOG...`: says when it has read something of each log, and ends as a command would. */
const [kubeconfig = '', kubectl = '', zip = '', ...paths] = process.argv.slice(2);
const interrupts = handleInterrupts();
const signal = interrupts.interrupt;
const api = kubernetesClient({kubeconfig, namespace: 'default'}, {kubectl});
const archive = await zipArchives.create(zip);
let begun = 0;

async function* told(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let isNew = true;
  for await (const chunk of chunks) {
    yield chunk;
    if (isNew) begun += 1;
    if (isNew && begun === paths.length) process.stdout.write('all have begun\n');
    isNew = false;
  }
}

await Promise.all(
  paths.map(async (path, index) => {
    const log = await api.stream(path, {signal});
    if (log.error) throw new Error(log.error.message);
    await archive.add(`${index}.log`, told(log.chunks));
  }),
);
await archive.close({manifest: (entries) => JSON.stringify(entries)});
await api.close();
process.exitCode = signal.aborted ? 130 : 0;
