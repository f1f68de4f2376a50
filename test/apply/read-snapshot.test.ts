import {expect, test} from 'vitest';
import {readSnapshot} from '../../src/apply/read-snapshot.ts';
import {agentsOf} from '../../src/diagnose/agent-log.ts';
import {processesOf} from '../cluster-facts/fake-cluster.ts';
import {afterStart, READY_DEPLOYMENT, readyPod, replicaSet, START} from '../diagnose/objects.ts';

const NAME = {release: 'acme', place: {namespace: 'scalr'}};
const READY = `${START} The agent is ready to receive tasks`;
const RUNS = (count: number): string => Array.from({length: count}, (_, run) => `${START} run-${run} finished`).join('\n');

/** What the log of the agent comes to, and how often it was asked for. */
async function agentWith(log: string, {kept = log} = {}) {
  let asked = 0;
  const processes = processesOf(async ({args: [command, ...args]}) => {
    if (command === 'get') return {exitCode: 0, stdout: JSON.stringify({items: [READY_DEPLOYMENT, replicaSet(), readyPod()]}), stderr: ''};
    asked += 1;
    const isEnd = args.includes('--tail');
    expect(args).toContain(isEnd ? '50' : '--limit-bytes');
    return {exitCode: 0, stdout: isEnd ? log.split('\n').slice(-50).join('\n') : kept, stderr: ''};
  });
  const {snapshot} = await readSnapshot(NAME, processes, new AbortController().signal);
  return {asked, state: agentsOf(snapshot, afterStart(300))[0]?.state};
}

test.each([
  ['at the end of the log', `${RUNS(100)}\n${READY}`, {}, 1, 'registered'],
  ['at its start, long ago', `${READY}\n${RUNS(100)}`, {}, 2, 'registered'],
  ['in lines that the node has thrown away', `${READY}\n${RUNS(100)}`, {kept: RUNS(80)}, 2, 'unknown'],
  ['nowhere in a short log', RUNS(10), {}, 1, 'unknown'],
])('an agent said that it is ready %s', async (_, log, kept, asked, state) => {
  expect(await agentWith(log, kept)).toEqual({asked, state});
});
