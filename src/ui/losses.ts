import type {Warning} from '../errors.ts';
import type {Loss, Plan} from '../plan/step.ts';

/** What goes with a plan because it is not asked for any more: said before it is done, and in the result. */
export const lossWarnings = ({losses = []}: Plan): Warning[] => losses.map(lossWarning);

function lossWarning(loss: Loss): Warning {
  if ('claim' in loss) {
    return {
      code: 'CLAIM_DELETED',
      message: `Claim ${loss.claim} is deleted with this change, because these settings ask for none. What is on its volume is lost, unless the reclaim policy of the volume is Retain.`,
    };
  }
  const {path, installed, file} = loss.value;
  const what = file === undefined ? 'leave it out' : `make it ${JSON.stringify(file)}`;
  return {
    code: 'VALUE_DROPPED',
    message: `${path} is ${JSON.stringify(installed)} in the installed release, and these settings ${what}. To keep it, say it again: with its setting, or with --set.`,
  };
}
