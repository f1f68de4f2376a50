import {missesRuns} from '../../../cluster/facts/policy-weakness.ts';
import {workloadIdentity} from '../../../settings/network.ts';
import {type Check, type Outcome, pass, skip, warn} from '../../check.ts';
import type {Situation} from '../../situation.ts';
import {blocks} from '../network/metadata.ts';
import {ifSaid, isOf, NO_ANSWER, noTool} from './said.ts';

const ADDRESS = '169.254.169.254';

export const probeMetadata: Check = {
  id: 'probe-metadata',
  group: 'Probe',
  title: 'a pod where runs are finds the metadata service as the settings want it',
  ref: 'agent-job 0.6.5, README',
  test: (situation) =>
    ifSaid(situation, ({metadata}, plan) => {
      if (metadata === undefined) return NO_ANSWER;
      if (metadata.state === 'no-tool') return noTool(plan);
      if (metadata.state === 'failed') return skip(`Nothing can be said of ${ADDRESS}: the tool ended with ${metadata.detail}`);
      const isOpen = isOf(metadata, 'ok', 'proxy');
      return blocks(situation) ? blocked(situation, isOpen) : open(situation, isOpen);
    }),
};

function blocked(situation: Situation, isOpen: boolean): Outcome {
  const {chart, version} = situation.target;
  if (!isOpen) return pass(`${ADDRESS} does not answer`);
  const because = missesRuns(situation.target)
    ? `the policy of ${chart} ${version} does not cover runs`
    : 'nothing enforces the policy of the chart';
  return warn(
    `${ADDRESS} answers although it should be blocked, and gives away the credentials of the node: ${because}`,
    missesRuns(situation.target)
      ? 'Use --chart agent-job or --chart agent-local, whose policy covers runs'
      : 'Switch on a network policy engine; or say that it is open: --metadata-service allow',
  );
}

/** Only the identities of Google come from there; the others have addresses of their own. */
function open({get}: Situation, isOpen: boolean): Outcome {
  if (isOpen) return pass(`${ADDRESS} answers, as the settings leave it`);
  if (get(workloadIdentity) !== 'gke') return pass(`${ADDRESS} does not answer, and the settings need nothing of it`);
  return warn(
    `${ADDRESS} does not answer, and runs get their credentials there with --workload-identity gke`,
    'See which network policy of the namespace keeps pods from it: kubectl get networkpolicies',
  );
}
