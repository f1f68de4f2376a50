import {
  type AccountObject,
  AGENT_STATUSES,
  type PoolToken,
  type ScalrAgent,
  type ScalrPool,
} from '../../checks/status/account.ts';
import type {Resource, ResourceRef} from './client.ts';

export const nonEmptyText = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

export const refsIn = ({relationships}: Resource, name: string): readonly ResourceRef[] => {
  const data = relationships?.[name]?.data ?? [];
  return Array.isArray(data) ? data : [data as ResourceRef];
};

export const namedOf = ({id, attributes}: Resource): AccountObject => ({
  id,
  name: nonEmptyText(attributes['name']) ?? id,
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
    version: nonEmptyText(attributes['version']),
    createdAt: nonEmptyText(attributes['created-at']),
    lastSeen: nonEmptyText(attributes['last-seen-at']),
    error: nonEmptyText(attributes['error-message']),
    upgrade: nonEmptyText(attributes['upgrade-status']),
  };
}

export const tokenOf = ({id, attributes}: Resource): PoolToken => ({
  id,
  name: nonEmptyText(attributes['name']) ?? null,
  description: nonEmptyText(attributes['description']) ?? null,
  createdAt: nonEmptyText(attributes['created-at']) ?? null,
  lastUsedAt: nonEmptyText(attributes['last-used-at']) ?? null,
  expiresAt: nonEmptyText(attributes['expires-at']) ?? null,
  isExpired: attributes['is-expired'] === true,
});
