import type {AccountPool} from '../cluster/release/account-token.ts';

import {
  type AccountRotation,
  readAccountRotation,
  type TokenUsers,
} from '../extensions/account/account-rotation.ts';
import type {ScalrClient} from '../extensions/account/client.ts';
import {ExpectedError, failed} from '../ground/errors.ts';

/** What an installed agent records about its token. */
interface RecordedToken {
  users: TokenUsers;
  pool: AccountPool | undefined;
  /** That the agents connect to; unknown if only their token contains it. */
  address: string | undefined;
  /** What records the token. */
  record: string;
}

/** False if the token is given, or if an interrupted rotation has written it. @throws ExpectedError for a new one in this case */
export function needsToken({replaced}: TokenUsers, isGiven: boolean, isNew: boolean): boolean {
  if (isNew && replaced !== undefined) throw unfinished();
  return !isGiven && replaced === undefined;
}

/** The account that creates the token. */
export interface WantedAccount {
  /** With --pool. */
  pool: string | undefined;
  connect(host: string | undefined): Promise<ScalrClient>;
}

/** Undefined if the token is given, and the account is not known. @throws ExpectedError */
export async function readAccount(
  recorded: RecordedToken,
  isNeeded: boolean,
  wanted: WantedAccount,
): Promise<AccountRotation | undefined> {
  const {users, record} = recorded;
  const pool = wanted.pool ?? recorded.pool?.poolId;
  const isOptional = !isNeeded && wanted.pool === undefined && users.replaced === undefined;
  if (pool === undefined) {
    if (isOptional) return undefined;
    throw unknownPool(record);
  }
  try {
    const client = await wanted.connect(hostOf(recorded));
    return await readAccountRotation(client, pool, users, isNeeded);
  } catch (error) {
    if (!(error instanceof ExpectedError) || error.code !== 'NO_CREDENTIAL') throw error;
    if (isOptional) return undefined;
    throw error.with(error.message, [
      ...error.suggestions,
      'Or create a token in Scalr, and set --token-file',
    ]);
  }
}

function hostOf({pool, address = ''}: RecordedToken): string | undefined {
  if (pool !== undefined) return pool.host;
  return URL.canParse(address) ? new URL(address).host : undefined;
}

const unknownPool = (record: string): ExpectedError =>
  new ExpectedError(`${record} does not record an agent pool.`, {
    code: 'MISSING_SETTING',
    suggestions: [
      'Set --pool to the agent pool of the release',
      'Or create a token in Scalr, and set --token-file',
    ],
    options: [
      {add: '--pool NAME', when: 'Set the agent pool of the release'},
      {add: '--token-file FILE', when: 'Use a token that was created in Scalr'},
    ],
  });

const unfinished = (): ExpectedError =>
  failed(
    'CONFLICTING_SETTINGS',
    'An earlier rotation is unfinished: its old token is not revoked yet.',
    ['Continue it first: run the same command without --token-file and SCALR_AGENT_TOKEN'],
  );
