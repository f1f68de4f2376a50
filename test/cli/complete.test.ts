import {execa} from 'execa';
import {expect, test} from 'vitest';
import {PROGRAM} from '../package/built.ts';
import {ownTools} from '../support/own-tools.ts';

const {tool} = ownTools();

test.each([
  [
    'takes two seconds, as with a login plugin, is waited for',
    'sleep 2; echo namespace/payments',
    'payments',
  ],
  ['hangs is not', 'echo namespace/half; sleep 60', undefined],
])('a kubectl that %s', async (_how, script, offered) => {
  const line = ['status', '--kubectl', tool(script), '--namespace', ''];
  const {stdout} = await execa(process.execPath, [PROGRAM, '__complete', 'fish', ...line]);
  expect(stdout.split('\n').slice(2)[0]?.trim() || undefined).toBe(offered);
});
