import {expect, test} from 'vitest';
import {LogMatcher} from '../../../../src/checks/diagnose/log-matcher.ts';
import {cacheFindings, debugFindings} from '../../../../src/extensions/bundle/findings.ts';
import {BundlePositions} from '../../../../src/extensions/bundle/positions.ts';

const NOWHERE = new BundlePositions([], new Set(), []);
const JOB = {
  name: 'mine',
  kubeTarget: {namespace: 'scalr', kubeContext: 'prod'},
  target: {chart: 'agent-job', version: '0.6.5'},
} as const;

test('reports that debug logs were off, with the command that enables them', () => {
  expect(debugFindings({...JOB, values: {}}, NOWHERE)).toMatchObject([
    {
      verdict: 'note',
      code: 'DEBUG_OFF',
      remedies: [
        {
          text: expect.stringContaining(
            'scalr-agent debug --release mine --namespace scalr --kube-context prod on',
          ),
        },
      ],
    },
  ]);
});

test.each([
  [undefined, 'values that were not read'],
  [{agent: {debug: '1'}}, 'debug logs that were on'],
  [
    {task: {worker: {extraEnv: {SCALR_AGENT_DEBUG: '1'}}}},
    'another variable that switched them on',
  ],
])('reports nothing for %o: %s', (values, _) => {
  expect(debugFindings({...JOB, values}, NOWHERE)).toEqual([]);
});

/** As a log on its way into the bundle is read, in chunks of that size. */
function record(file: string, text: string, size = text.length) {
  const words = new LogMatcher();
  for (let from = 0; from < text.length; from += size)
    words.push(Buffer.from(text.slice(from, from + size)));
  return {file, bytes: text.length, tail: '', ...words.end()};
}

const LINES =
  'Initializing modules...\nInitialized 8 modules in 4.12s (8 used from cache)\nInitialized 20 plugins in 6.09s (19 used from cache)\n';

test.each([LINES.length, 40, 7])('counts cache use of runs, in chunks of %i bytes', (size) => {
  expect(
    cacheFindings([
      record('a.log', 'hello\n'),
      record('b.log', LINES, size),
      record('c.log', LINES, size),
    ]),
  ).toMatchObject([
    {
      code: 'CACHE_USED',
      verdict: 'note',
      message: '38 of 40 plugins and 16 of 16 modules used from the cache, in 2 logs',
      evidence: {file: 'b.log'},
    },
  ]);
});

test('suggests a cache when it was not used, and reports nothing without such a line', () => {
  expect(
    cacheFindings([record('a.log', 'Initialized 3 plugins in 6.09s (0 used from cache)\n')]),
  ).toMatchObject([
    {
      code: 'CACHE_NOT_USED',
      message: '0 of 3 plugins used from the cache, in 1 log',
      remedies: [{text: expect.stringContaining('--provider-cache')}],
    },
  ]);
  expect(cacheFindings([record('a.log', 'hello\n')])).toEqual([]);
});
