import type {Warning} from '../errors.ts';
import type {Plan} from '../plan/step.ts';

/** What goes with a plan because it is not asked for any more: said before it is done, and in the result. */
export const lossWarnings = ({losses = []}: Plan): Warning[] =>
  losses.map(({claim}) => ({
    code: 'CLAIM_DELETED',
    message: `Claim ${claim} is deleted with this change, because these settings ask for none. What is on its volume is lost, unless the reclaim policy of the volume is Retain.`,
  }));
