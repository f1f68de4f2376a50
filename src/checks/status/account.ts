/** An object with the two names that users know it by. */
export interface AccountObject {
  id: string;
  name: string;
}

export const AGENT_STATUSES = ['idle', 'busy', 'offline', 'errored'] as const;

export type AgentStatus = (typeof AGENT_STATUSES)[number];

export interface ScalrPool extends AccountObject {
  /** New workspaces of the account use it. */
  isDefault: boolean;
  /** Its agents serve VCS providers, not runs. */
  isForVcs: boolean;
  /** All environments can use it. */
  isShared: boolean;
  isInUse: boolean;
  /** The environments that can use it. */
  environments: readonly AccountObject[];
}

export interface ScalrAgent extends AccountObject {
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
