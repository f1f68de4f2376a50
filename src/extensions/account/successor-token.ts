import {failed} from '../../ground/errors.ts';
import {hostInToken, type Secret, tokenClaims, tokenProblem} from '../../ground/secret.ts';

/** What a new token replaces. */
interface PresentToken {
  /** Account URL of the agents; undefined if unknown. */
  address: string | undefined;
  token?: Secret | undefined;
}

/** Machine files can have the host alone. */
const hostOf = (address: string): string =>
  URL.canParse(address) ? new URL(address).host : address.replace(/\/.*$/, '');

/** Refuses a token that cannot work, before it replaces one that does. @throws ExpectedError */
export function requireSuccessor(next: Secret, {address, token}: PresentToken): void {
  const host = hostInToken(next);
  if (host !== undefined && address !== undefined && hostOf(host) !== hostOf(address))
    throw failed(
      'INVALID_SETTING',
      `The new token was created for ${host}, but the agents use ${address}. Nothing was changed.`,
      [`Create a token in an agent pool of ${address}`],
    );
  // Scalr may change the format of its tokens: then the present one has the new format too.
  const problem = token && tokenClaims(token.reveal()) && tokenProblem(next.reveal());
  if (problem !== undefined)
    throw failed('INVALID_SETTING', `New token: ${problem} Nothing was changed.`, [
      'Copy all of the token from the agent pool in Scalr',
    ]);
}
