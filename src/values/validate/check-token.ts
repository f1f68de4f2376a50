import {CHARTS} from '../../charts/charts.ts';
import type {Target} from '../../charts/define.ts';
import {within} from '../../charts/releases.ts';
import {at, getAt} from '../../charts/tree.ts';
import type {Finding} from './finding.ts';
import type {Held} from './held.ts';

/** The templates of every version demand a token, inline or from a Secret: docs/charts/README.md, "Agent pool token". */
export function checkToken({values, settings, locate}: Held, target: Target): Finding[] {
  const inline = getAt(values, at('agent.token'));
  const place = {path: 'agent.token', ...(locate(at('agent.token')) ?? {})};
  if (inline === undefined || inline === '') {
    if (settings.get('token-secret') !== undefined) return [];
    const [secret] =
      CHARTS[target.chart].rows.find((row) => row.setting.id === 'token-secret' && within(target.version, row.in))?.paths ?? [];
    return [
      {
        ...place,
        severity: 'error',
        code: 'NO_TOKEN',
        message: 'There is no agent pool token: the templates stop.',
        suggestion: `${secret?.join('.')}: "scalr-agent-token"`,
      },
    ];
  }
  // Both is no accident: the templates drop one of them. Which token is inline alone is the operator's choice.
  return settings.get('token-secret') === undefined
    ? []
    : [{...place, severity: 'warning', code: 'OTHER_KEY_WINS', message: 'The existing Secret wins, and this token is dropped.'}];
}
