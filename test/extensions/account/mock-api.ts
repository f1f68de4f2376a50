import {once} from 'node:events';
import type {IncomingMessage, ServerResponse} from 'node:http';
import {createServer} from 'node:https';
import type {AddressInfo} from 'node:net';
import {generate} from 'selfsigned';
import {expect, onTestFinished} from 'vitest';
import {memoryFiles} from '../../support/memory-files.ts';
import {requestProblems, responseProblems, type Sent} from './contract.ts';
import {idsIn, MockAccount, poolTokenOf, type Stored, USER_TOKEN} from './mock-account.ts';

const BASE = '/api/iacp/v3';

/** What happens to a request instead of its answer; `lost` does the work, and cuts the connection before the answer. */
export type Fault =
  | {status: number; body?: string; headers?: Record<string, string>}
  | 'cut'
  | 'lost'
  | 'truncated'
  | 'silent';

interface Answer {
  status: number;
  body?: object;
}

class Refusal extends Error {
  readonly status: number;
  readonly pointer: string | undefined;

  constructor(status: number, detail: string, pointer?: string) {
    super(detail);
    this.status = status;
    this.pointer = pointer;
  }
}

export interface MockApi {
  /** localhost:PORT */
  host: string;
  url: string;
  account: MockAccount;
  /** Certificate of the CA, PEM. */
  ca: string;
  /** Every request, with the credentials that it had. */
  sent: (Sent & {authorization: string | undefined})[];
  /** Changes among them, as METHOD PATH. */
  changes(): string[];
  /** Applies to the next requests of this kind; the last one is repeated `times` times. */
  inject(method: string, path: RegExp, fault: Fault, times?: number): void;
  /** The user has no permission for these paths: they answer 404. */
  deny(method: string, path: RegExp): void;
  /** Somebody else changes the account right after the next request of this kind. */
  afterNext(method: string, path: RegExp, change: () => void): void;
  /** Entries per page, however many the client asks for. */
  pageSize: number;
  /** For runCommand: the credential, and the CA as ca.pem. */
  deps: {env: Record<string, string>; files: ReturnType<typeof memoryFiles>};
  /** Flags that select this account. */
  flags: readonly string[];
}

const COMMON = {keyType: 'ec', algorithm: 'sha256'} as const;

async function certificate() {
  const root = await generate([{name: 'commonName', value: 'Scalr test CA'}], {
    ...COMMON,
    extensions: [
      {name: 'basicConstraints', cA: true, critical: true},
      {name: 'keyUsage', keyCertSign: true, digitalSignature: true, critical: true},
    ],
  });
  const altNames = [
    {type: 7, ip: '127.0.0.1'} as const,
    {type: 2, value: 'localhost'} as const,
    {type: 2, value: 'acme.scalr.io'} as const,
  ];
  const usage = [
    {name: 'extKeyUsage', serverAuth: true} as const,
    {name: 'subjectAltName', altNames} as const,
  ];
  const own = await generate([{name: 'commonName', value: 'localhost'}], {
    ...COMMON,
    extensions: usage,
    ca: {key: root.private, cert: root.cert},
  });
  return {ca: root.cert, cert: own.cert, key: own.private};
}

const issued = certificate();

/** An account behind TLS. Fails the test if a request or an answer does not match openapi.yaml. */
export async function mockApi(): Promise<MockApi> {
  const {ca, cert, key} = await issued;
  const account = new MockAccount();
  const problems: string[] = [];
  const faults: {method: string; path: RegExp; fault: Fault; times: number}[] = [];
  const later: {method: string; path: RegExp; change(): void}[] = [];
  const denied: {method: string; path: RegExp}[] = [];
  const server = createServer({cert, key}, (request, answer) => void handle(request, answer));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const host = `localhost:${(server.address() as AddressInfo).port}`;
  const api: MockApi = {
    host,
    url: `https://${host}`,
    account,
    ca,
    sent: [],
    pageSize: 100,
    changes: () =>
      api.sent.filter(({method}) => method !== 'GET').map(({method, path}) => `${method} ${path}`),
    inject: (method, path, fault, times = 1) => void faults.push({method, path, fault, times}),
    afterNext: (method, path, change) => void later.push({method, path, change}),
    deny: (method, path) => void denied.push({method, path}),
    deps: {
      env: {SCALR_HOSTNAME: host, SCALR_TOKEN: USER_TOKEN},
      files: memoryFiles({'ca.pem': ca}),
    },
    flags: ['--ca-file', 'ca.pem'],
  };
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
    expect(problems).toEqual([]);
  });

  async function handle(request: IncomingMessage, answer: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '', api.url);
    const {method = ''} = request;
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    if (url.pathname === '/.well-known/terraform.json')
      return void answer
        .writeHead(200, {'content-type': 'application/json'})
        .end(JSON.stringify({'iacp.v3': `${BASE}/`}));
    const text = Buffer.concat(chunks).toString('utf8');
    const sent = {
      method,
      path: url.pathname.slice(BASE.length),
      query: url.searchParams,
      body: text === '' ? undefined : JSON.parse(text),
    };
    api.sent.push({...sent, authorization: request.headers.authorization});
    const wrong = requestProblems(sent);
    if (request.headers.accept !== 'application/vnd.api+json')
      wrong.push(`accept: ${request.headers.accept}`);
    if (text !== '' && request.headers['content-type'] !== 'application/vnd.api+json')
      wrong.push(`content-type: ${request.headers['content-type']}`);
    problems.push(...wrong.map((each) => `${method} ${sent.path}: ${each}`));
    const planned = faults.find(
      (each) => each.times > 0 && each.method === method && each.path.test(sent.path),
    );
    if (planned) planned.times -= 1;
    if (planned && planned.fault !== 'lost' && planned.fault !== 'truncated')
      return fail(planned.fault, answer);
    const done = work(sent, request.headers.authorization);
    problems.push(
      ...responseProblems(sent, done.status, done.body).map(
        (each) => `${method} ${sent.path}: ${each}`,
      ),
    );
    const due = later.findIndex((each) => each.method === method && each.path.test(sent.path));
    if (due >= 0) later.splice(due, 1)[0]?.change();
    if (planned?.fault === 'lost') return void answer.destroy();
    if (planned?.fault === 'truncated') {
      answer.writeHead(done.status, {
        'content-type': 'application/vnd.api+json',
        'content-length': '100000',
      });
      return void answer.write(JSON.stringify(done.body).slice(0, 40), () => answer.destroy());
    }
    reply(answer, done);
  }

  function work(sent: Sent, authorization: string | undefined): Answer {
    try {
      if (authorization !== `Bearer ${USER_TOKEN}`)
        throw new Refusal(401, 'The token is invalid or expired.');
      if (denied.some(({method, path}) => method === sent.method && path.test(sent.path)))
        throw missing('Object', sent.path.split('/')[2] ?? '');
      return operate(sent, api);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const source = error.pointer === undefined ? {} : {source: {pointer: error.pointer}};
      const title = error.pointer === undefined ? 'Error' : 'Invalid Relationship';
      return {
        status: error.status,
        body: {
          errors: [
            {
              status: String(error.status),
              code: null,
              title,
              detail: error.message,
              ...source,
              meta: null,
            },
          ],
        },
      };
    }
  }
  return api;
}

function fail(fault: Fault, answer: ServerResponse): void {
  if (fault === 'silent') return;
  if (typeof fault === 'string') return void answer.destroy();
  answer
    .writeHead(fault.status, {'content-type': 'text/html', ...fault.headers})
    .end(fault.body ?? '<html>Bad Gateway</html>');
}

const reply = (answer: ServerResponse, {status, body}: Answer): void =>
  void answer
    .writeHead(status, {'content-type': 'application/vnd.api+json'})
    .end(body === undefined ? undefined : JSON.stringify(body));

const missing = (kind: string, id: string, pointer?: string): Refusal =>
  new Refusal(404, `${kind} with ID '${id}' not found or user unauthorized.`, pointer);

interface Body {
  data: {attributes?: Record<string, unknown>; relationships?: Record<string, {data: unknown}>};
}

/** The answer of the account to a valid request. */
function operate({method, path, query, body}: Sent, {account, host, pageSize}: MockApi): Answer {
  const [, collection = '', id, part] = path.split('/');
  const {objects} = account;
  const {attributes = {}, relationships = {}} = (body as Body | undefined)?.data ?? {};
  const found = (of: string): Stored => {
    const object = objects.get(of);
    if (object === undefined || object.type !== collection) throw missing(collection, of);
    return object;
  };
  const environments = (): Stored[] =>
    ((relationships['environments']?.data ?? []) as {id: string}[]).map((each) => {
      const environment = objects.get(each.id);
      if (environment === undefined)
        throw new Refusal(
          422,
          `Environment with ID '${each.id}' not found or user unauthorized.`,
          '/data/relationships/environments',
        );
      return environment;
    });
  if (part === 'access-tokens') {
    const pool = found(id ?? '');
    if (method === 'GET')
      return listing(
        account.ofType('access-tokens').filter((each) => idsIn(each, 'pool').includes(pool.id)),
        query,
        account,
        pageSize,
      );
    const {'expires-in': minutes, ...given} = attributes;
    const expiresAt =
      typeof minutes === 'number'
        ? new Date(Date.UTC(2026, 10, 21, 12) + minutes * 60_000).toISOString()
        : null;
    const token = account.token(pool, {...given, 'expires-at': expiresAt});
    return {
      status: 201,
      body: {
        data: {
          ...token,
          attributes: {...token.attributes, token: poolTokenOf(host, pool.id, token.id)},
        },
      },
    };
  }
  if (method === 'POST') {
    const name = String(attributes['name']);
    if (account.names('agent-pools').includes(name))
      throw new Refusal(422, 'Name has already been taken.', '/data/attributes/name');
    return {
      status: 201,
      body: {data: account.pool(name, {...attributes, environments: environments()})},
    };
  }
  if (method === 'DELETE') {
    const object = found(id ?? '');
    const isBusy = account
      .ofType('agents')
      .some(
        (agent) =>
          idsIn(agent, 'pool').includes(object.id) && agent.attributes['status'] === 'busy',
      );
    if (isBusy) throw new Refusal(409, 'The agent pool has busy agents.');
    objects.delete(object.id);
    for (const each of account.ofType('access-tokens'))
      if (idsIn(each, 'pool').includes(object.id)) objects.delete(each.id);
    return {status: 204};
  }
  if (method === 'PATCH') {
    const object = found(id ?? '');
    for (const [name, {data}] of Object.entries(relationships)) {
      const pool = data === null ? undefined : objects.get((data as {id: string}).id);
      if (data !== null && pool === undefined)
        throw missing('AgentPool', (data as {id: string}).id, `/data/relationships/${name}`);
      if (collection === 'vcs-providers' && pool?.attributes['vcs-enabled'] === false)
        throw new Refusal(
          422,
          'The agent pool is not enabled for VCS.',
          `/data/relationships/${name}`,
        );
      object.relationships[name] = {data: data as null};
    }
    if (attributes['default'] === true)
      for (const each of account.ofType('agent-pools')) each.attributes['default'] = false;
    Object.assign(object.attributes, attributes);
    return {status: 200, body: {data: object}};
  }
  if (id !== undefined) {
    const object = found(id);
    return {status: 200, body: {data: object, included: includedOf([object], query, account)}};
  }
  return listing(
    account.ofType(collection === 'runs-queue' ? 'runs' : collection),
    query,
    account,
    pageSize,
  );
}

const includedOf = (
  all: readonly Stored[],
  query: URLSearchParams,
  {objects}: MockAccount,
): Stored[] =>
  (query.get('include') ?? '')
    .split(',')
    .flatMap((name) =>
      all.flatMap((each) => idsIn(each, name).flatMap((id) => objects.get(id) ?? [])),
    );

/** Filters by attribute, ID and relationship, and pages. Names match without regard to case, as in Scalr's search. */
function listing(
  all: readonly Stored[],
  query: URLSearchParams,
  account: MockAccount,
  limit: number,
): Answer {
  const kept = all.filter((each) =>
    [...query].every(([key, value]) => {
      const [, filter = ''] = /^filter\[(.+)\]$/.exec(key) ?? [];
      if (filter === '') return true;
      if (filter === 'name')
        return String(each.attributes['name']).toLowerCase() === value.toLowerCase();
      if (each.type === `${filter}s`) return each.id === value;
      return [
        ...idsIn(each, filter),
        ...idsIn(each, filter === 'agent-pool' ? 'pool' : filter),
      ].includes(value);
    }),
  );
  const page = Number(query.get('page[number]') ?? 1);
  const size = Math.min(limit, Number(query.get('page[size]') ?? 20));
  const pages = Math.max(1, Math.ceil(kept.length / size));
  const data = kept.slice((page - 1) * size, page * size);
  const pagination = {
    'current-page': page,
    'page-size': size,
    'prev-page': page > 1 ? page - 1 : null,

    'next-page': page < pages ? page + 1 : null,
    'total-pages': pages,
    'total-count': kept.length,
  };
  return {
    status: 200,
    body: {data, included: includedOf(data, query, account), meta: {pagination}},
  };
}
