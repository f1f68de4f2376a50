import type {AccountObject, PoolToken} from '../../checks/status/account.ts';
import type {AccountStep} from './account-steps.ts';

export interface TokenAttributes {
  name: string;
  description: string;
  /** Null: the token does not expire. */
  expiresInMinutes: number | null;
}

/** Which permission creates tokens is not documented; agents of a pool are managed with this one. */
const PERMISSION = 'agent-pools:update';

/** Only the answer of this request contains the token, so createToken sends it. */
export const creationStep = (
  pool: AccountObject,
  {name, description, expiresInMinutes}: TokenAttributes,
): AccountStep => ({
  id: 'create-token',
  title: `Create a token of agent pool ${pool.name}`,
  request: {
    method: 'POST',
    path: `/agent-pools/${pool.id || 'NEW'}/access-tokens`,
    body: {
      data: {
        type: 'access-tokens',
        attributes: {name, description, 'expires-in': expiresInMinutes},
      },
    },
  },
  purpose: {what: `create a token of agent pool ${pool.name}`, permission: PERMISSION},
});

export const revocationStep = ({id}: Pick<PoolToken, 'id'>, title: string): AccountStep => ({
  id: 'revoke-token',
  title,
  request: {method: 'DELETE', path: `/access-tokens/${id}`},
  purpose: {what: `revoke token ${id}`, permission: PERMISSION},
  isDestructive: true,
});
