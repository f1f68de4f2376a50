import {expect, test} from 'vitest';
import {pullAdvice} from '../../../src/checks/status/status.ts';
import type {KubernetesObject} from '../../../src/cluster/kubernetes/objects.ts';

const OF = {chart: 'agent-job', version: '0.6.5', release: 'mine', taskLabels: {}} as const;
const labels = {'app.kubernetes.io/instance': 'mine', 'app.kubernetes.io/component': 'task'};
const RUN: KubernetesObject = {kind: 'Pod', metadata: {name: 'run-1', labels}};
const START = Date.parse('2026-11-21T08:00:00Z');

const event = (reason: string, second: number, message = ''): object => ({
  kind: 'Event',
  metadata: {name: `${reason}-${second}`},
  reason,
  message,

  eventTime: new Date(START + second * 1000).toISOString(),
  involvedObject: {kind: 'Pod', name: 'run-1'},
});
const pulled = (second: number, time: string): object =>
  event(
    'Pulled',
    second,
    `Successfully pulled image "scalr/runner:0.2.0" in ${time} (${time} including waiting). Image size: 9 bytes.`,
  );
const advice = (...events: object[]) => pullAdvice([RUN, ...(events as KubernetesObject[])], OF);

test('reports image pulls that take most of the start-up time of a run', () => {
  expect(
    advice(event('Scheduled', 0), pulled(62, '1m2.5s'), pulled(63, '350ms'), event('Started', 65)),
  ).toMatchObject([
    {
      code: 'SLOW_IMAGE_PULLS',
      verdict: 'note',
      message: 'Image pulls take most of the start-up time in 1 of 1 run (up to 63s)',
      remedies: [
        {text: expect.stringContaining('docs/guide/recipes.md')},
        {text: expect.stringContaining('--image-registry')},
        {text: expect.stringContaining('image streaming')},
      ],
    },
  ]);
});

test.each([
  ['a short pull', [event('Scheduled', 0), pulled(5, '5s'), event('Started', 6)]],
  [
    'a start-up that waits for something else',
    [event('Scheduled', 0), pulled(30, '30s'), event('Started', 90)],
  ],
  [
    'an image on the node',
    [
      event('Scheduled', 0),
      event('Pulled', 1, 'Container image "a" already present on machine'),
      event('Started', 90),
    ],
  ],
  ['no events', []],
])('reports nothing for %s', (_, events) => {
  expect(advice(...events)).toEqual([]);
});

test('considers only runs of this release', () => {
  const other = {
    ...RUN,
    metadata: {name: 'run-1', labels: {...labels, 'app.kubernetes.io/instance': 'other'}},
  };
  const events = [
    event('Scheduled', 0),
    pulled(62, '62s'),
    event('Started', 65),
  ] as KubernetesObject[];
  expect(pullAdvice([other, ...events], OF)).toEqual([]);
});
