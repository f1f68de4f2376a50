import type {ScalrAgent, ScalrPool} from '../../checks/status/account.ts';
import type {Clock} from '../../ground/async.ts';
import {type ExpectedError, failed, interrupted} from '../../ground/errors.ts';
import {listAgents} from './account.ts';
import type {ScalrClient} from './client.ts';

const POLL_MS = 5000;

interface AwaitOptions extends Clock {
  pods: readonly string[];
  agentsBefore: ReadonlySet<string>;
  timeoutMs: number;
  interrupt: AbortSignal;
}

/** Waits until Scalr reports an idle or busy agent of the release: of one of its pods, or one that is new. @throws ExpectedError */
export async function awaitAgents(
  client: ScalrClient,
  pool: ScalrPool,
  {pods, agentsBefore, timeoutMs, interrupt, now, sleep}: AwaitOptions,
): Promise<ScalrAgent[]> {
  const end = now().getTime() + timeoutMs;
  for (;;) {
    const agents = (await listAgents(client, pool.id)).filter(
      ({id, name}) => pods.includes(name) || !agentsBefore.has(id),
    );
    const working = agents.filter(({status}) => status === 'idle' || status === 'busy');
    if (working.length > 0) return working;
    if (interrupt.aborted)
      throw interrupted(
        'The release is installed and ready. Scalr has not reported its agent yet.',
        interrupt,
      );
    if (now().getTime() >= end) throw noAgent(pool, agents, timeoutMs);
    await sleep(POLL_MS, interrupt);
  }
}

function noAgent(
  {name}: ScalrPool,
  agents: readonly ScalrAgent[],
  timeoutMs: number,
): ExpectedError {
  const seen = agents.map(
    (agent) =>
      `${agent.name} is ${agent.status}${agent.error === undefined ? '' : ` (${agent.error})`}`,
  );
  const because =
    seen.length === 0 ? 'It reports no agent of this release.' : `${seen.join(', ')}.`;
  return failed(
    'TIMED_OUT',
    `The release is ready, but Scalr reports no working agent in agent pool ${name} after ${timeoutMs / 1000} s. ${because}`,
    [
      'Check the network and the clock of the nodes',
      `Show the agents: scalr-agent pool show ${name}`,
    ],
  );
}
