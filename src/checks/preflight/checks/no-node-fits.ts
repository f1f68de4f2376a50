import {autoscalersOf} from '../../../cluster/platform/autoscalers.ts';
import {knownValue} from '../../../ground/fact.ts';
import {remediesOf} from '../../../ground/finding.ts';
import type {PreflightContext} from '../facts/context.ts';
import {type CheckResult, fail, type RemedyText, warn} from './check-result.ts';

/** Where a node pool can be resized. */
const CLOUDS = [
  'google',
  'aws',
  'azure',
  'digitalocean',
  'linode',
  'hetzner',
  'oracle',
  'ibm',
  'openstack',
  'vsphere',
];

/** Result if no node fits the pods: a warning if a node can be added, otherwise a failure. */
export function noNodeFits(
  context: PreflightContext,
  message: string,
  remedy: RemedyText,
): CheckResult {
  const autoscalers = autoscalersOf(context);
  const hope =
    autoscalers.find(({canGrow}) => canGrow) ??
    autoscalers.find(({canGrow}) => canGrow === undefined);
  if (hope !== undefined) return warn(`${message}; ${hope.text}`, remedy);
  if (autoscalers.length > 0) {
    const texts = autoscalers.map(({text}) => text);
    const failure = fail([message, ...texts].join('; '), remedy);
    const others = autoscalers.flatMap((each) => remediesOf(each.remedy));
    return {...failure, remedies: [...failure.remedies, ...others]};
  }
  return CLOUDS.includes(knownValue(context.facts.platform.infrastructure) ?? '')
    ? warn(`${message}; no autoscaler was found that could add nodes`, remedy)
    : fail(message, remedy);
}
