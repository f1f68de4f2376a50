import {once} from 'node:events';
import {mkdtemp, readFile, rm} from 'node:fs/promises';
import type {IncomingHttpHeaders, ServerResponse} from 'node:http';
import {createServer} from 'node:https';
import type {AddressInfo} from 'node:net';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {setTimeout as wait} from 'node:timers/promises';
import {issueCertificates} from '../../test/control-plane/certificates.ts';
import {forwarder} from '../../test/control-plane/forwarder.ts';
import {writeKubeconfig} from '../../test/control-plane/kubeconfig.ts';

interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

/**
 * What the API server of a kubeconfig answered once, again and again, so many milliseconds later: as if it ran elsewhere and took nothing
 * of this machine. Says where its own kubeconfig is, and ends with its standard input.
 */
const [kubeconfig = '', latency = '0'] = process.argv.slice(2);
const directory = await mkdtemp(join(tmpdir(), 'recorded-api-'));
const {ca, server: own, admin} = await issueCertificates(directory);
const [cert, key, forward] = await Promise.all([
  readFile(own.cert),
  readFile(own.key),
  forwarder(kubeconfig),
]);
const answers = new Map<string, Answer>();
const server = createServer({cert, key}, async (incoming, outgoing) => {
  const {method, url, headers} = incoming;
  const name = `${method} ${url} ${headers.accept}`;
  const known = answers.get(name);
  if (known) return void wait(Number(latency)).then(() => say(known, outgoing));
  const found = await forward(incoming);
  const answer = {
    status: found.statusCode ?? 500,
    headers: found.headers,
    body: Buffer.concat(await found.toArray()),
  };
  if (method === 'GET') answers.set(name, answer);
  say(answer, outgoing);
});

function say({status, headers, body}: Answer, outgoing: ServerResponse): void {
  const {'transfer-encoding': _, ...rest} = headers;
  outgoing.writeHead(status, {...rest, 'content-length': body.length}).end(body);
}

await once(server.listen(0, '127.0.0.1'), 'listening');
const {port} = server.address() as AddressInfo;
process.stdout.write(
  `${await writeKubeconfig(join(directory, 'kubeconfig'), `https://127.0.0.1:${port}`, ca, admin)}\n`,
);
await once(process.stdin.resume(), 'end');
server.closeAllConnections();
server.close();
await rm(directory, {recursive: true});
