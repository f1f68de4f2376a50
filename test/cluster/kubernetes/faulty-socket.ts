import {once} from 'node:events';
import {mkdtemp, rm} from 'node:fs/promises';
import {createServer, type IncomingMessage, type ServerResponse} from 'node:http';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {onTestFinished} from 'vitest';

type Play = (outgoing: ServerResponse, incoming: IncomingMessage) => void;

/** An API server on a unix socket that plays one part after the other; the last one for ever. */
export async function socketThatPlays(...parts: readonly Play[]) {
  const directory = await mkdtemp(join(tmpdir(), 'faulty-'));
  const socketPath = join(directory, 's');
  const asked: string[] = [];
  const connections = new Set<unknown>();
  const server = createServer((incoming, outgoing) => {
    asked.push(incoming.url ?? '');
    outgoing.sendDate = false;
    connections.add(incoming.socket);
    parts[Math.min(asked.length, parts.length) - 1]?.(outgoing, incoming);
  });
  await once(server.listen(socketPath), 'listening');
  onTestFinished(async () => {
    server.close();
    server.closeAllConnections();
    await rm(directory, {recursive: true});
  });
  return {socketPath, asked, connections};
}

export const says =
  (text: string, status = 200, headers: Record<string, string> = {}): Play =>
  (outgoing) =>
    void outgoing.writeHead(status, headers).end(text);

export const refuses = (
  status: number,
  message: string,
  headers: Record<string, string> = {},
): Play =>
  says(JSON.stringify({kind: 'Status', status: 'Failure', message, code: status}), status, headers);

/** Nothing at all, or nothing after this. */
export const stalls =
  (text?: string): Play =>
  (outgoing) =>
    void (text === undefined || outgoing.write(text));

export const cutsAfter =
  (text: string): Play =>
  (outgoing) =>
    void outgoing.write(text, () => outgoing.destroy());

/** Another part for each path. */
export const byPath =
  (parts: Record<string, Play>): Play =>
  (outgoing, incoming) =>
    parts[incoming.url ?? '']?.(outgoing, incoming);

export const resets: Play = (outgoing) => void outgoing.socket?.destroy();
