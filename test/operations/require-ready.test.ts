import {expect, test} from 'vitest';
import {releaseText, requireReady} from '../../src/operations/watch-release.ts';

const NEVER = new AbortController().signal;
const DEPS = {
  timeoutMs: 8000,
  interrupts: {interrupt: NEVER, forceQuit: NEVER, release: () => undefined},
};
const TEXT = releaseText({release: 'mine', kubeTarget: {namespace: 'scalr'}}, true);

test.each([
  [
    [],
    'Release mine is not ready after 8 s. The log of the agent does not show that it is registered.',
  ],
  [
    [
      {
        code: 'OOM_KILLED',
        verdict: 'warning',
        subject: {object: 'pod/a'},
        message: 'm',
        remedies: [],
      },
    ],
    'Release mine is not ready after 8 s.\n',
  ],
] as const)('a timeout tells what is missing: %j', (causes, message) => {
  expect(() => requireReady({state: 'timed-out', agent: 'unknown', causes}, TEXT, DEPS)).toThrow(
    expect.objectContaining({
      code: 'TIMED_OUT',
      message: expect.stringContaining(message),
      suggestions: expect.arrayContaining([
        'Collect the logs: scalr-agent collect-logs --release mine --namespace scalr',
      ]),
    }),
  );
});
