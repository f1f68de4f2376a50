import type {PoolToken, ScalrAgent, ScalrPool} from '../../checks/status/account.ts';
import {agentCounts} from '../../ui/agent-counts.ts';
import {columnsText, paragraph, type Screen, theme} from '../../ui/theme.ts';

export function poolTable(
  pools: readonly ScalrPool[],
  agents: readonly ScalrAgent[],
  screen: Screen,
): string {
  const rows = pools.map((pool) => [
    pool.name,
    pool.id,
    pool.isForVcs ? 'VCS' : 'runs',
    sharedWith(pool),
    pool.isDefault ? 'yes' : '',
    agentCounts(agents.filter(({poolId}) => poolId === pool.id).map(({status}) => status)),
  ]);
  return columnsText(
    [['NAME', 'ID', 'PURPOSE', 'ENVIRONMENTS', 'DEFAULT', 'AGENTS'], ...rows],
    screen,
  );
}

const sharedWith = ({isShared, environments}: ScalrPool): string =>
  isShared ? 'all' : environments.map(({name}) => name).join(',') || 'none';

interface ShownPool {
  pool: ScalrPool;
  agents: readonly ScalrAgent[];
  /** Names. */
  workspaces: readonly string[];
  vcsProviders: readonly string[];
}

export function poolText(
  {pool, agents, workspaces, vcsProviders}: ShownPool,
  screen: Screen,
): string {
  const {bold} = theme(screen);
  const row = (label: string, text: string): string => {
    const head = label.padEnd(15);
    return paragraph(head, text, screen).replace(head, bold(head));
  };
  const {isForVcs, isDefault} = pool;
  const users = [...workspaces, ...vcsProviders];
  const table = agents.map(({name, status, version = '?', lastSeen = '?', error}) => [
    name,
    status,
    version,
    lastSeen,
    error ?? '',
  ]);
  return [
    row('Agent pool', `${pool.name} (${pool.id})`),
    row('Purpose', isForVcs ? 'VCS access' : 'runs'),
    row('Environments', sharedWith(pool)),
    ...(isForVcs ? [] : [row('Workspaces', workspaces.join(', ') || 'none')]),
    ...(isForVcs || vcsProviders.length > 0
      ? [row('VCS providers', vcsProviders.join(', ') || 'none')]
      : []),
    row('Default', isDefault ? 'of the account' : 'no'),
    row('Agents', agentCounts(agents.map(({status}) => status))),
    ...(users.length === 0 && !isDefault && !pool.isInUse
      ? [row('Not in use', 'nothing is linked to this agent pool, so it receives no runs')]
      : []),
    ...(table.length === 0
      ? []
      : [
          '\n',
          columnsText([['NAME', 'STATUS', 'VERSION', 'LAST SEEN', 'ERROR'], ...table], screen),
        ]),
  ].join('');
}

export function tokenTable(tokens: readonly PoolToken[], screen: Screen): string {
  const rows = tokens.map(
    ({id, name, description, createdAt, lastUsedAt, expiresAt, isExpired}) => [
      id,
      name ?? '',
      createdAt ?? '?',
      lastUsedAt ?? 'never',

      isExpired ? `expired ${expiresAt ?? ''}`.trim() : (expiresAt ?? 'never'),
      description ?? '',
    ],
  );
  return columnsText(
    [['ID', 'NAME', 'CREATED', 'LAST USED', 'EXPIRES', 'DESCRIPTION'], ...rows],
    screen,
  );
}
