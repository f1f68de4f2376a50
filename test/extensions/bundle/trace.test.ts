import {Ajv2020} from 'ajv/dist/2020.js';
import {expect, test} from 'vitest';
import {timelineOf, traceOf} from '../../../report/timeline-data.ts';
import {FILES} from '../../browser/sample-bundle.ts';

const MICROSECONDS = {type: 'number', minimum: 0};
const COMMON = {
  name: {type: 'string', minLength: 1},
  cat: {type: 'string'},
  pid: {type: 'integer'},
  tid: {type: 'integer'},
  args: {type: 'object'},
};
const event = (ph: string, properties: object, required: readonly string[]) => ({
  type: 'object',
  properties: {ph: {const: ph}, ...COMMON, ...properties},
  required: ['ph', 'name', 'pid', ...required],
  additionalProperties: false,
});

/** The phases that a bundle uses, from "Trace Event Format" of the Chromium project; nobody publishes a schema of it. */
const SCHEMA = {
  type: 'object',
  properties: {
    displayTimeUnit: {enum: ['ms', 'ns']},
    traceEvents: {
      type: 'array',
      items: {
        oneOf: [
          // Metadata events, of which the document lists five names.
          event(
            'M',
            {
              name: {
                enum: [
                  'process_name',
                  'process_labels',
                  'process_sort_index',
                  'thread_name',
                  'thread_sort_index',
                ],
              },
              args: {type: 'object', properties: {name: {type: 'string'}}, minProperties: 1},
            },
            ['args'],
          ),
          // Complete events have a duration.
          event('X', {ts: MICROSECONDS, dur: MICROSECONDS}, ['cat', 'ts', 'dur', 'tid']),
          // Instant events have a scope: global, process or thread.
          event('i', {ts: MICROSECONDS, s: {enum: ['g', 'p', 't']}}, ['cat', 'ts', 'tid', 's']),
        ],
      },
    },
  },
  required: ['traceEvents'],
  additionalProperties: false,
};
const isTrace = new Ajv2020({strict: false}).compile(SCHEMA);

test('the trace of a bundle has the Trace Event format', () => {
  const trace = JSON.parse(JSON.stringify(traceOf(timelineOf(new Map(Object.entries(FILES)))))) as {
    traceEvents: Record<string, unknown>[];
  };
  isTrace(trace);
  expect(isTrace.errors).toBeNull();
  const phases = new Set(trace.traceEvents.map(({ph}) => ph));
  expect([...phases].toSorted()).toEqual(['M', 'X', 'i']);
  const named = new Set(
    trace.traceEvents
      .filter(({name}) => name === 'thread_name')
      .map(({pid, tid}) => `${pid}/${tid}`),
  );
  expect(
    trace.traceEvents.filter(({ph, pid, tid}) => ph !== 'M' && !named.has(`${pid}/${tid}`)),
  ).toEqual([]);
});

test.each([
  [{ph: 'X', name: 'a', cat: 'pod', ts: 1, pid: 1, tid: 1}],
  [{ph: 'i', name: 'a', cat: 'pod', ts: 1, pid: 1, tid: 1, s: 'x'}],
  [{ph: 'M', name: 'title', pid: 1, args: {name: 'a'}}],
  [{ph: 'i', name: 'a', cat: 'pod', ts: Number.NaN, pid: 1, tid: 1, s: 't'}],
])('another event is none: %o', (wrong) => {
  expect(isTrace({traceEvents: [wrong]})).toBe(false);
});
