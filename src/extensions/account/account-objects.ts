import type {Resource, ResourceRef} from './client.ts';

/** An object with the two names that users know it by. */
export interface Named {
  id: string;
  name: string;
}

export const AGENT_STATUSES = ['idle', 'busy', 'offline', 'errored'] as const;
export type AgentStatus = (typeof AGENT_STATUSES)[number];

export interface ScalrPool extends Named {
  /** New workspaces of the account use it. */
  isDefault: boolean;
  /** Its agents serve VCS providers, not runs. */
  isForVcs: boolean;
  /** All environments can use it. */
  isShared: boolean;
  isInUse: boolean;
  /** The environments that can use it. */
  environments: readonly Named[];
}

export interface ScalrAgent extends Named {
  poolId: string | undefined;
  status: AgentStatus | 'unknown';
  version: string | undefined;
  /** ISO 8601. */
  createdAt: string | undefined;
  lastSeen: string | undefined;
  /** Only of errored agents. */
  error: string | undefined;
  /** How much Scalr recommends an upgrade: none, low, medium, high. */
  upgrade: string | undefined;
}

/** A token of an agent pool, without its text. Times are ISO 8601. */
export interface PoolToken {
  id: string;
  name: string | null;
  description: string | null;
  createdAt: string | null;
  lastUsedAt: string | null;
  expiresAt: string | null;
  isExpired: boolean;
}

export const text = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

export const refsIn = ({relationships}: Resource, name: string): readonly ResourceRef[] => {
  const data = relationships?.[name]?.data ?? [];
  return Array.isArray(data) ? data : [data as ResourceRef];
};

export const namedOf = ({id, attributes}: Resource): Named => ({
  id,
  name: text(attributes['name']) ?? id,
});

/** `included` has the names of the environments. */
export function poolOf(resource: Resource, included: readonly Resource[] = []): ScalrPool {
  const {attributes} = resource;
  const names = new Map(included.map((each) => [each.id, namedOf(each)]));
  return {
    ...namedOf(resource),
    isDefault: attributes['default'] === true,
    isForVcs: attributes['vcs-enabled'] === true,
    isShared: attributes['is-shared'] === true,
    isInUse: attributes['in-use'] === true,
    environments: refsIn(resource, 'environments').map(({id}) => names.get(id) ?? {id, name: id}),
  };
}

export function agentOf(resource: Resource): ScalrAgent {
  const {attributes} = resource;
  return {
    ...namedOf(resource),
    poolId: refsIn(resource, 'pool')[0]?.id,
    status: AGENT_STATUSES.find((status) => status === attributes['status']) ?? 'unknown',
    version: text(attributes['version']),
    createdAt: text(attributes['created-at']),
    lastSeen: text(attributes['last-seen-at']),
    error: text(attributes['error-message']),
    upgrade: text(attributes['upgrade-status']),
  };
}

export const tokenOf = ({id, attributes}: Resource): PoolToken => ({
  id,
  name: text(attributes['name']) ?? null,
  description: text(attributes['description']) ?? null,
  createdAt: text(attributes['created-at']) ?? null,
  lastUsedAt: text(attributes['last-used-at']) ?? null,
  expiresAt: text(attributes['expires-at']) ?? null,
  isExpired: attributes['is-expired'] === true,
});
