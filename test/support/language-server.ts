import {spawn} from 'node:child_process';
import {fileURLToPath, pathToFileURL} from 'node:url';

const SERVER = fileURLToPath(
  new URL('../../node_modules/yaml-language-server/bin/yaml-language-server', import.meta.url),
);

interface Message {
  id?: number;
  method?: string;
  params?: unknown;
  result?: unknown;
}

export interface Diagnostic {
  message: string;
  severity: number;
  range: {start: {line: number; character: number}};
}

/** yaml-language-server, which VS Code and Neovim start, over standard input and output. */
export async function languageServer() {
  const server = spawn(process.execPath, [SERVER, '--stdio'], {stdio: ['pipe', 'pipe', 'inherit']});
  const answers = new Map<number, (result: unknown) => void>();
  const reports = new Map<string, (diagnostics: Diagnostic[]) => void>();
  let unread = Buffer.alloc(0);
  let next = 0;

  function send(message: object): void {
    const text = JSON.stringify({jsonrpc: '2.0', ...message});
    server.stdin.write(`Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`);
  }
  const request = (method: string, params: object): Promise<unknown> =>
    new Promise((resolve) => {
      next += 1;
      answers.set(next, resolve);
      send({id: next, method, params});
    });
  function take({id, method, params, result}: Message): void {
    const {uri, diagnostics} = (params ?? {}) as {uri?: string; diagnostics?: Diagnostic[]};
    if (method === 'textDocument/publishDiagnostics')
      reports.get(uri as string)?.(diagnostics ?? []);
    else if (method !== undefined && id !== undefined) send({id, result: null});
    else if (id !== undefined) answers.get(id)?.(result);
  }
  server.stdout.on('data', (chunk: Buffer) => {
    unread = Buffer.concat([unread, chunk]);
    for (;;) {
      const end = unread.indexOf('\r\n\r\n');
      const length = Number(
        /Content-Length: (\d+)/i.exec(unread.subarray(0, Math.max(end, 0)).toString())?.[1],
      );
      if (end < 0 || unread.length < end + 4 + length) return;
      take(JSON.parse(unread.subarray(end + 4, end + 4 + length).toString()) as Message);
      unread = unread.subarray(end + 4 + length);
    }
  });

  await request('initialize', {
    processId: process.pid,
    rootUri: null,
    capabilities: {textDocument: {hover: {contentFormat: ['markdown']}}},
  });
  send({method: 'initialized', params: {}});
  const yaml = {validate: true, hover: true, completion: true, schemaStore: {enable: false}};
  send({method: 'workspace/didChangeConfiguration', params: {settings: {yaml}}});

  return {
    /** Opens a file with this text; its diagnostics, and what the editor shows at the end of a piece of the text. */
    async open(path: string, text: string) {
      const uri = String(pathToFileURL(path));
      const reported = new Promise<Diagnostic[]>((resolve) => reports.set(uri, resolve));
      send({
        method: 'textDocument/didOpen',
        params: {textDocument: {uri, languageId: 'yaml', version: 1, text}},
      });
      const behind = (piece: string) => {
        const lines = text.slice(0, text.indexOf(piece) + piece.length).split('\n');
        return {
          textDocument: {uri},
          position: {line: lines.length - 1, character: lines.at(-1)?.length ?? 0},
        };
      };
      return {
        diagnostics: await reported,
        hover: async (piece: string) =>
          JSON.stringify(await request('textDocument/hover', behind(piece))),
        async completion(piece: string): Promise<{label: string; documentation?: unknown}[]> {
          const found = (await request('textDocument/completion', behind(piece))) as {
            items: {label: string}[];
          };
          return found.items;
        },
      };
    },
    close: () => server.kill(),
  };
}
