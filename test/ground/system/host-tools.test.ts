import {setTimeout} from 'node:timers/promises';
import {afterEach, expect, test, vi} from 'vitest';
import {hostTools} from '../../../src/ground/system/host-tools.ts';
import {hostShims} from '../../support/host-shims.ts';
import {HANGS} from '../../support/own-tools.ts';

const shims = hostShims();
afterEach(() => vi.unstubAllEnvs());

const call = {tool: 'docker', args: ['logs']} as const;
const signal = () => AbortSignal.timeout(60_000);

async function stream(script: string, options: Parameters<typeof hostTools.stream>[1]) {
  vi.stubEnv('PATH', shims.path({docker: script}));
  const opened = await hostTools.stream(call, options);
  if (opened.error) throw new Error(opened.error.message);
  return opened;
}

test('a log larger than memory should be goes through, as slowly as it is read', async () => {
  const {chunks, end} = await stream('exec head -c 300000000 /dev/zero', {
    signal: signal(),
    isLogOnBoth: true,
  });
  const before = process.memoryUsage.rss();
  let bytes = 0;
  let most = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    most = Math.max(most, process.memoryUsage.rss() - before);
  }
  expect(bytes).toBe(300_000_000);
  expect(most).toBeLessThan(150e6);
  expect(await end).toBeUndefined();
});

test('both outputs come in whole lines, also the last one without an end', async () => {
  const {chunks} = await stream(
    'printf one; printf two >&2; sleep 0.2; printf " more\\n"; printf " words" >&2',
    {
      signal: signal(),
      isLogOnBoth: true,
    },
  );
  let text = '';
  for await (const chunk of chunks) text += chunk;
  expect(text).toBe('one more\ntwo words');
});

test.each([
  true,
  false,
])('a log that is read once its tool has ended is whole, on both outputs: %s', async (isLogOnBoth) => {
  const {chunks, end} = await stream('exec head -c 30000 /dev/zero', {
    signal: signal(),
    isLogOnBoth,
  });
  await setTimeout(300);
  let bytes = 0;
  for await (const chunk of chunks) bytes += chunk.length;
  expect(bytes).toBe(30_000);
  expect(await end).toBeUndefined();
});

test.each([
  true,
  false,
])('a log that nobody reads ends with its time, on both outputs: %s', async (isLogOnBoth) => {
  const {chunks, end} = await stream(`echo word; ${HANGS}`, {
    signal: AbortSignal.timeout(200),
    isLogOnBoth,
  });
  await setTimeout(500);
  for await (const chunk of chunks) expect(String(chunk)).toBe('word\n');
  expect(await end).toMatchObject({kind: 'aborted'});
});

test('what a tool says of its troubles is no part of a log that has only one output', async () => {
  const {chunks, end} = await stream('echo log; echo "it broke" >&2; exit 4', {signal: signal()});
  let text = '';
  for await (const chunk of chunks) text += chunk;
  expect(text).toBe('log\n');
  expect(await end).toEqual({kind: 'refused', message: 'it broke'});
});

test('who reads no further ends the tool', async () => {
  const {chunks, end} = await stream('while :; do echo line; done', {signal: signal()});
  for await (const _ of chunks) break;
  expect(await end).toMatchObject({kind: 'aborted'});
});

test('a tool is ended when time is over, also one that has left its outputs to another', async () => {
  const {chunks, end} = await stream(`echo begun; (${HANGS}) & wait`, {
    signal: AbortSignal.timeout(500),
    isLogOnBoth: true,
  });
  for await (const _ of chunks);
  expect(await end).toMatchObject({kind: 'aborted'});
});

test('tools speak English, whatever the operator speaks', async () => {
  vi.stubEnv('LC_ALL', 'de_DE.UTF-8');
  vi.stubEnv('PATH', shims.path({docker: 'echo "$LC_ALL"'}));
  expect(await hostTools.run(call, {signal: signal()})).toEqual({stdout: 'C.UTF-8\n'});
});
