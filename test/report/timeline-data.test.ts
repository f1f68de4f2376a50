import {expect, test} from 'vitest';
import {timelineOf, traceOf} from '../../report/timeline-data.ts';

const NOON = Date.parse('2026-11-21T12:00:00Z');
const at = (second: number): string => new Date(NOON + second * 1000).toISOString();
const pod = (name: string, labels: object, status: object) =>
  JSON.stringify({metadata: {name, labels}, status: {startTime: at(0), ...status}});
const terminated = (second: number, reason: string, exitCode: number) => ({
  terminated: {finishedAt: at(second), reason, exitCode},
});
const FILES = new Map([
  ['SUMMARY.md', `# Support bundle\n\nCreated ${at(60)} by scalr-agent collect-logs.\n`],
  [
    'releases/mine/history.json',
    JSON.stringify([{revision: 1, updated: at(-5), chart: 'agent-job-0.6.5', status: 'deployed'}]),
  ],
  [
    'objects/pod/controller-1.json',
    pod(
      'controller-1',
      {'app.kubernetes.io/component': 'controller'},
      {
        containerStatuses: [
          {name: 'agent', restartCount: 2, lastState: terminated(10, 'OOMKilled', 137)},
        ],
      },
    ),
  ],
  [
    'objects/pod/atask-1.json',
    pod(
      'atask-1',
      {},
      {phase: 'Failed', containerStatuses: [{name: 'run', state: terminated(20, 'Error', 1)}]},
    ),
  ],
  [
    'objects/pod/worker-1.json',
    pod('worker-1', {}, {phase: 'Failed', reason: 'Evicted', message: 'low on memory'}),
  ],
  [
    'events.txt',
    [
      `${at(30)}  Normal  Pod/worker-1  Pulled  pulled`,
      `${at(40)}  Warning  Pod/controller-1  Unhealthy  Readiness probe failed`,
      `${at(35)}  Warning  PersistentVolumeClaim/cache  ProvisioningFailed  no class`,
      'nonsense',
    ].join('\n'),
  ],
  [
    'findings.json',
    JSON.stringify([
      {
        code: 'CLOCK_SKEW',
        subject: {object: 'clock of this machine'},
        message: '5 min behind',
      },
      7,
    ]),
  ],
  [
    'errors.json',
    JSON.stringify([
      {
        subject: {object: 'Pod objects (--watch)'},
        kind: 'unreachable',
        message: 'not watched for 9 s: refused',
        at: at(50),
      },
      {
        subject: {object: 'logs/atask-1/run.log'},
        kind: 'server',
        message: 'incomplete: timed out',
        at: at(15),
      },
      {subject: {object: 'logs/gone-1/run.log'}, kind: 'not-found', message: 'not found'},
      {
        subject: {object: 'logs/worker-1/agent.log'},
        kind: 'cut',
        message: '7 bytes cut from the middle',
        at: at(37),
      },
    ]),
  ],
]);

test('lanes and marks stand in order', () => {
  const {lanes, marks, from, to} = timelineOf(FILES);
  expect(lanes.map(({group, id}) => `${group}: ${id}`)).toEqual([
    'Releases: release/mine',
    'Controllers: pod/controller-1',
    'Workers: pod/worker-1',
    'Runs: pod/atask-1',
    'Other objects: clock of this machine',
    'Other objects: PersistentVolumeClaim/cache',
    'Other objects: Pod objects (--watch)',
  ]);
  expect(
    marks.map(
      ({at: time, kind, lane, file, line}) =>
        `${(time - NOON) / 1000} ${kind} ${lane} ${file}:${line ?? ''}`,
    ),
  ).toEqual([
    '-5 release release/mine releases/mine/history.json:1',
    '0 eviction pod/worker-1 objects/pod/worker-1.json:',
    '10 oom pod/controller-1 objects/pod/controller-1.json:',
    '15 gap pod/atask-1 errors.json:',
    '20 failure pod/atask-1 objects/pod/atask-1.json:',
    '35 warning PersistentVolumeClaim/cache events.txt:3',
    '37 gap pod/worker-1 errors.json:',
    '40 probe pod/controller-1 events.txt:2',
    '50 gap Pod objects (--watch) errors.json:',
    '60 skew clock of this machine findings.json:',
  ]);
  expect([from, to]).toEqual([NOON - 5000, NOON + 60_000]);
});

test('files of another shape are ignored', () => {
  const odd = [
    'null',
    '7',
    '[]',
    '{"metadata":7}',
    '{"metadata":{"name":{}}}',
    '{"metadata":{"name":"a"},"status":{"containerStatuses":[null,7]}}',
  ];
  const files = new Map(
    odd.flatMap((text, index): [string, string][] => [
      [`objects/pod/${index}.json`, text],
      ['findings.json', text],
    ]),
  );
  expect(timelineOf(files).marks).toEqual([]);
});

test('the trace has the fields that the Trace Event format requires', () => {
  const {traceEvents} = traceOf(timelineOf(FILES)) as {traceEvents: Record<string, unknown>[]};
  const required: Record<string, readonly string[]> = {
    M: ['args'],
    X: ['ts', 'dur', 'cat'],
    i: ['ts', 's', 'cat'],
  };
  for (const event of traceEvents) {
    expect(event).toMatchObject({
      name: expect.any(String),
      pid: expect.any(Number),
      tid: expect.any(Number),
    });
    for (const field of required[event['ph'] as string] ?? ['unknown phase'])
      expect(event).toHaveProperty(field);
    for (const field of ['ts', 'dur'].filter((each) => each in event))
      expect(event[field]).toSatisfy(Number.isFinite);
  }
  expect(traceEvents.filter(({ph}) => ph === 'i')).toHaveLength(10);
});
