import {expect, test} from 'vitest';
import {ExpectedError} from '../../src/errors.ts';
import type {LogStream} from '../../src/ports/log-stream.ts';
import {collect} from '../../src/support-bundle/collect.ts';
import type {LogItem} from '../../src/support-bundle/log-items.ts';

const log = (name: string): LogItem => ({file: `logs/p/${name}.log`, pod: 'p', container: name, isPrevious: false, path: name});
const full = new ExpectedError('Cannot write x.zip: the disk is full.', {code: 'UNWRITABLE_FILE', exit: 1});

async function* said(): AsyncGenerator<Buffer> {
  yield Buffer.from('hello\n');
}

test('what found no room on the disk is said, and nothing more is read', async () => {
  const asked: string[] = [];
  const done: number[] = [];
  const names = Array.from({length: 40}, (_, at) => String(at));
  const {logs, gaps} = await collect([{name: 'version.json', text: '{}'}], names.map(log), 1e6, {
    api: {
      stream: async (path): Promise<LogStream> => {
        asked.push(path);
        return {chunks: said(), end: Promise.resolve(undefined)};
      },
    },
    archive: {
      add: async (name) => {
        if (name.startsWith('logs/')) throw full;
        return {name, bytes: 2, sha256: ''};
      },
    },
    redactor: {
      file: () => ({push: (chunk) => chunk, end: () => Buffer.alloc(0), hide: () => '', counts: {}}),
      text: (_, text) => text,
    },
    over: new AbortController().signal,
    onFile: (count) => done.push(count),
  });
  expect(logs).toEqual([]);
  expect(asked.length).toBeLessThan(names.length);
  expect(gaps.map(({what}) => what).toSorted()).toEqual(names.map((name) => log(name).file).toSorted());
  expect(new Set(gaps.map(({trouble}) => trouble.kind))).toEqual(new Set(['no-room']));
  expect(done.at(-1)).toBe(41);
});
