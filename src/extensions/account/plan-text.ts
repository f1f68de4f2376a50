import {stepsText} from '../../ui/plan.ts';
import {type Screen, theme} from '../../ui/theme.ts';
import type {AccountStep} from './account-steps.ts';
import type {AccountRequest} from './client.ts';
import type {AccountRef} from './failure.ts';

export function accountPlanText(
  steps: readonly AccountStep[],
  {host, source}: AccountRef,
  screen: Screen,
): string {
  return stepsText(
    steps,
    {Account: `${host} ${theme(screen).dim(`token from ${source}`)}`},
    screen,
  );
}

/** A request as one line: method, path, body. */
export const requestText = ({method, path, body}: AccountRequest): string =>
  [method, path, ...(body === undefined ? [] : [JSON.stringify(body)])].join(' ');
