import {STATUS_CODES} from 'node:http';
import {isFields, jsonIn} from '../../ground/json.ts';

import {type AccountRef, notScalr, type Purpose} from './failure.ts';
import {type HttpResponse, ScalrHttp, type ScalrOptions} from './http.ts';

/** An object of the API (JSON:API). https://docs.scalr.io/reference */
export interface Resource {
  type: string;
  id: string;
  attributes: Readonly<Record<string, unknown>>;
  relationships?: Readonly<Record<string, {data?: ResourceRef | readonly ResourceRef[] | null}>>;
}

export interface ResourceRef {
  type: string;
  id: string;
}

export interface Document<T> {
  data: T;
  /** Objects that `include` has requested. */
  included: readonly Resource[];
}

/** A request that changes the account, as data: a plan prints it and runs it. */
export interface AccountRequest {
  method: 'POST' | 'PATCH' | 'DELETE';
  /** Below /api/iacp/v3. */
  path: string;
  body?: {data: object};
}

export type Query = Readonly<Record<string, string>>;

const PAGE_SIZE = '100';

/** The API of one Scalr account. Every method throws ExpectedError. */
export class ScalrClient implements AccountRef {
  readonly host: string;
  readonly source: string;
  readonly #http: ScalrHttp;

  constructor(options: ScalrOptions) {
    this.host = options.host;
    this.source = options.source;
    this.#http = new ScalrHttp(options);
  }

  async get(path: string, purpose: Purpose, query: Query = {}): Promise<Document<Resource>> {
    return this.#resource(await this.#http.send({method: 'GET', path, query}, purpose));
  }

  /** All pages. */
  async list(path: string, purpose: Purpose, query: Query = {}): Promise<Document<Resource[]>> {
    const data: Resource[] = [];
    const included: Resource[] = [];
    for (let page: number | null = 1; page !== null; ) {
      const paging = {'page[number]': String(page), 'page[size]': PAGE_SIZE};
      const request = {method: 'GET', path, query: {...query, ...paging}} as const;
      const found = this.#parse(await this.#http.send(request, purpose));
      if (!Array.isArray(found.data) || !found.data.every(isResource))
        throw notScalr(this, 'a JSON document without a list');
      data.push(...found.data);
      included.push(...resourcesIn(found.included));
      page = nextPage(found.meta, page);
    }
    return {data, included};
  }

  /** The changed object; undefined after DELETE. POST is never repeated after it may have arrived. */
  async send(change: AccountRequest, purpose: Purpose): Promise<Resource | undefined> {
    const answer = await this.#http.send(change, purpose);
    return change.method === 'DELETE' ? undefined : this.#resource(answer).data;
  }

  #resource(answer: HttpResponse): Document<Resource> {
    const {data, included} = this.#parse(answer);
    if (isResource(data)) return {data, included: resourcesIn(included)};
    throw notScalr(this, 'a JSON document without an object');
  }

  #parse({body, status}: HttpResponse): {data: unknown; included?: unknown; meta?: unknown} {
    const parsed = jsonIn(body);
    if (isFields(parsed) && 'data' in parsed) return parsed as {data: unknown};
    throw notScalr(this, `HTTP ${status} ${STATUS_CODES[status] ?? ''} without a JSON document`);
  }
}

const isResource = (value: unknown): value is Resource =>
  isFields(value) &&
  typeof value['id'] === 'string' &&
  typeof value['type'] === 'string' &&
  isFields(value['attributes']);

const resourcesIn = (value: unknown): Resource[] =>
  Array.isArray(value) ? value.filter(isResource) : [];

/** Lists end with `next-page: null`; a page that leads back ends them too. */
function nextPage(meta: unknown, page: number): number | null {
  const pagination = isFields(meta) && isFields(meta['pagination']) ? meta['pagination'] : {};
  const next = pagination['next-page'];
  return typeof next === 'number' && next > page ? next : null;
}
