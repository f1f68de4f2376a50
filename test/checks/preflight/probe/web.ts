import {once} from 'node:events';
import {createServer, type IncomingMessage, type Server, STATUS_CODES} from 'node:http';
import {createServer as createSecureServer} from 'node:https';
import {
  type AddressInfo,
  connect,
  createServer as createSocketServer,
  type Server as SocketServer,
} from 'node:net';
import {onTestFinished} from 'vitest';

/** Starts the server until the test ends; returns its port. */
export async function listening<T extends SocketServer>(server: T): Promise<number> {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => {
    server.close();
    if ('closeAllConnections' in server) (server as unknown as Server).closeAllConnections();
  });
  return (server.address() as AddressInfo).port;
}

/** Answers with this status, to so many requests; later ones are not accepted. Returns the port. */
export async function webServer(
  status: number,
  times = Number.POSITIVE_INFINITY,
  onRequest: (request: IncomingMessage) => void = () => undefined,
): Promise<number> {
  let count = 0;
  const server = createServer((request, answer) => {
    count += 1;
    onRequest(request);
    if (count >= times) server.close();
    answer.writeHead(status, {location: 'http://127.0.0.1:1/', connection: 'close'}).end();
  });
  return listening(server);
}

export const secureServer = (own: {cert: Buffer; key: Buffer}): Promise<number> =>
  listening(
    createSecureServer(own, (_, answer) => void answer.writeHead(200, {connection: 'close'}).end()),
  );

/** Takes connections and says nothing. */
export const silentServer = (): Promise<number> =>
  listening(createSocketServer((socket) => void socket.on('error', () => undefined)));

/** A proxy that connects, or answers every CONNECT with this status. Counts what it was asked for. */
export async function proxyServer(status = 200): Promise<{port: number; asked: string[]}> {
  const asked: string[] = [];
  const server = createServer((request, answer) => {
    asked.push(request.url ?? '');
    answer.writeHead(status).end();
  });
  server.on('connect', ({url = ''}: IncomingMessage, socket) => {
    asked.push(url);
    socket.on('error', () => undefined);
    if (status !== 200)
      return void socket.end(
        `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\ncontent-length: 0\r\n\r\n`,
      );
    const there = connect(Number(url.split(':')[1]), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connected\r\n\r\n');
      there.pipe(socket).pipe(there);
    });
    there.on('error', () => socket.destroy());
  });
  return {port: await listening(server), asked};
}
