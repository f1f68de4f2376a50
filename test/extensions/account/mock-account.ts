/** An object of the mock as the API sends it. */
export interface Stored {
  type: string;
  id: string;
  attributes: Record<string, unknown>;
  relationships: Record<string, {data: Ref | Ref[] | null}>;
}

interface Ref {
  type: string;
  id: string;
}

const encode = (claims: object): string =>
  Buffer.from(JSON.stringify(claims)).toString('base64url');
const jwt = (claims: object): string =>
  `${encode({alg: 'HS256', typ: 'JWT'})}.${encode(claims)}.c2lnbmF0dXJlLW9mLXRoZS10b2tlbg`;

/** The token of a user, as Scalr issues it. */
export const USER_TOKEN = jwt({iss: 'user', jti: 'at-v0user'});
export const poolTokenOf = (host: string, pool: string, id: string): string =>
  jwt({iss: 'agent', sub: pool, jti: id, domain: host});

const NOW = '2026-11-21T12:00:00Z';

/** The content of an account. Tokens of pools have their text only where they are created. */
export class MockAccount {
  readonly objects = new Map<string, Stored>();
  #count = 0;

  #add(
    type: string,
    prefix: string,
    attributes: Stored['attributes'],
    relationships: Stored['relationships'] = {},
  ): Stored {
    this.#count += 1;
    const added = {
      type,
      id: `${prefix}-v0${String(this.#count).padStart(3, '0')}`,
      attributes,
      relationships,
    };
    this.objects.set(added.id, added);
    return added;
  }

  pool(
    name: string,
    {
      environments = [],
      ...attributes
    }: Record<string, unknown> & {environments?: readonly Stored[]} = {},
  ): Stored {
    const defaults = {
      default: false,
      features: [],
      'in-use': false,
      'is-scalr-managed': false,
      'is-shared': false,
    };
    const webhook = {'webhook-enabled': false, 'webhook-url': null, 'webhook-headers': null};
    return this.#add(
      'agent-pools',
      'apool',
      {name, ...defaults, 'vcs-enabled': false, ...webhook, ...attributes},
      {
        account: {data: {type: 'accounts', id: 'acc-v0x'}},
        environments: {data: environments.map(({type, id}) => ({type, id}))},
      },
    );
  }

  /** The account itself, with its limits. */
  limits(name: string, quotas: Readonly<Record<string, unknown>>): Stored {
    return this.#add('accounts', 'acc', {name, quotas});
  }

  environment(name: string): Stored {
    return this.#add('environments', 'env', {name}, {'default-workspace-agent-pool': {data: null}});
  }

  workspace(name: string, environment: Stored, pool?: Stored): Stored {
    return this.#add(
      'workspaces',
      'ws',
      {name},
      {environment: {data: refOf(environment)}, 'agent-pool': {data: pool ? refOf(pool) : null}},
    );
  }

  run(workspace: Stored, status: string): Stored {
    return this.#add(
      'runs',
      'run',
      {status, 'created-at': NOW},
      {workspace: {data: refOf(workspace)}},
    );
  }

  vcsProvider(name: string): Stored {
    return this.#add(
      'vcs-providers',
      'vcs',
      {name, 'error-message': null},
      {'agent-pool': {data: null}},
    );
  }

  token(pool: Stored, attributes: Record<string, unknown> = {}): Stored {
    const times = {
      'created-at': NOW,
      'expires-at': null,
      'is-expired': false,
      'last-used-at': null,
    };
    return this.#add(
      'access-tokens',
      'at',
      {name: null, description: null, ...times, ...attributes, token: null},
      {pool: {data: refOf(pool)}},
    );
  }

  agent(pool: Stored, name: string, attributes: Record<string, unknown> = {}): Stored {
    return this.#add(
      'agents',
      'agent',
      {
        name,
        status: 'idle',
        version: '1.9.0',
        'upgrade-status': 'none',
        driver: 'local',
        runtime: 'kubernetes',

        os: 'debian_12',
        'cpu-platform': 'linux_amd64',
        'error-message': null,
        'created-at': NOW,
        'last-seen-at': NOW,
        ...attributes,
      },
      {pool: {data: refOf(pool)}},
    );
  }

  ofType(type: string): Stored[] {
    return [...this.objects.values()].filter((each) => each.type === type);
  }

  names(type: string): unknown[] {
    return this.ofType(type).map(({attributes}) => attributes['name']);
  }
}

export const refOf = ({type, id}: Stored): Ref => ({type, id});

/** IDs in a relationship. */
export const idsIn = ({relationships}: Stored, name: string): string[] =>
  [relationships[name]?.data ?? []].flat().map(({id}) => id);
