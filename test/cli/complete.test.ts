import {fileURLToPath} from 'node:url';
import {execa} from 'execa';
import {expect, test} from 'vitest';
import {ownTools} from '../support/own-tools.ts';

const program = fileURLToPath(new URL('../../dist/bin/scalr-agent.js', import.meta.url));
const {tool} = ownTools();

test.each([
  ['takes two seconds, as with a login plugin, is waited for', 'sleep 2; echo namespace/payments', 'payments'],
  ['hangs is not', 'echo namespace/half; sleep 60', undefined],
])('a kubectl that %s', async (_how, script, offered) => {
  const line = ['status', '--kubectl', tool(script), '--namespace', ''];
  const {stdout} = await execa(process.execPath, [program, '__complete', 'fish', ...line]);
  expect(stdout.split('\n').slice(2)[0]?.trim() || undefined).toBe(offered);
});
