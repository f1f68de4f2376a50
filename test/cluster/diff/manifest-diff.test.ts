import {expect, test} from 'vitest';
import {manifestDiff} from '../../../src/cluster/diff/values-diff.ts';

const workload = (...env: object[]) => ({
  kind: 'Deployment',
  metadata: {name: 'agent'},
  spec: {containers: [{name: 'agent', env}]},
});
const secret = (data: object) => ({kind: 'Secret', metadata: {name: 'agent'}, data});
const sides = (before: object, after: object) => manifestDiff([before as never], [after as never]);

test('a hidden variable that changed says so, wherever it stands', () => {
  const one = {name: 'A', value: 'hunter2'};
  const other = {name: 'B', value: 'b'};
  const [change] = sides(workload(one, other), workload({...other, value: 'c'}, one));
  expect(change?.before).toMatchObject({
    spec: {containers: [{env: [{value: '[hidden]'}, {value: '[hidden]'}]}]},
  });
  expect(change?.after).toMatchObject({
    spec: {
      containers: [
        {
          env: [
            {name: 'B', value: '[hidden], changed'},
            {name: 'A', value: '[hidden]'},
          ],
        },
      ],
    },
  });
  expect(JSON.stringify(change)).not.toContain('hunter2');
});

test('so does a key of a Secret', () => {
  const [change] = sides(secret({a: 'x', b: 'y'}), secret({a: 'x', b: 'z', c: 'n'}));
  expect(change?.before).toMatchObject({data: {a: '[hidden]', b: '[hidden]'}});
  expect(change?.after).toMatchObject({
    data: {a: '[hidden]', b: '[hidden], changed', c: '[hidden]'},
  });
});

test('objects that are the same but for the version of the chart are no change', () => {
  const of = (chart: string) => ({
    ...secret({a: 'x'}),
    metadata: {name: 'agent', labels: {'helm.sh/chart': chart}},
  });
  expect(sides(of('agent-job-0.6.4'), of('agent-job-0.6.5'))).toEqual([]);
});
