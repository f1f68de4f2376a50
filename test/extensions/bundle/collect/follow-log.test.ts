import {describe, expect, test} from 'vitest';
import {
  followLog,
  type LogContainerState,
  LogPosition,
} from '../../../../src/extensions/bundle/collect/follow-log.ts';
import type {LogItem} from '../../../../src/extensions/bundle/collect/log-items.ts';
import type {ReadError} from '../../../../src/ground/fact.ts';
import type {LogStream} from '../../../../src/ground/system/system.ts';

const item: LogItem = {
  file: 'logs/p/c.log',
  pod: 'p',
  container: 'c',
  isPrevious: false,
  path: '/api/v1/namespaces/n/pods/p/log?container=c&timestamps=true&sinceSeconds=86400',
};
const CUT: ReadError = {kind: 'truncated', message: 'aborted'};
const line = (second: number, text = `said in second ${second}`): string =>
  `2026-11-21T08:00:${String(second).padStart(2, '0')}.000000000Z ${text}\n`;

async function* chunksOf(text: string, size = 7): AsyncGenerator<Buffer> {
  for (let at = 0; at < text.length; at += size) yield Buffer.from(text.slice(at, at + size));
}

async function textOf(chunks: AsyncIterable<Buffer>): Promise<string> {
  let text = '';
  for await (const chunk of chunks) text += chunk;
  return text;
}

interface Answer {
  says?: string;
  error?: ReadError;
  /** As the pod is listed afterwards; nothing when it has gone. */
  after?: LogContainerState | undefined;
}

const RUNNING: LogContainerState = {restarts: 0, isRunning: true};

/** Answers one request after the other; the pod is there until the last answer unless that says how it is. */
async function follow(...answers: Answer[]) {
  const paths: string[] = [];
  let life: LogContainerState | undefined = RUNNING;
  const signal = new AbortController();
  const {content, error} = await followLog(item, 1_000_000, {
    api: {
      async stream(path, {follows}): Promise<LogStream | {error: ReadError}> {
        expect(follows).toBe(true);
        paths.push(path.replace(/.*timestamps=true&/, ''));
        const answer = answers.shift();
        if (answer === undefined) throw new Error(`nobody expected ${path}`);
        life = 'after' in answer ? answer.after : RUNNING;
        if (answer.says === undefined && answer.error) return {error: answer.error};
        return {chunks: chunksOf(answer.says ?? ''), end: Promise.resolve(answer.error)};
      },
    },
    signal: signal.signal,
    sleep: async () => {
      if (answers.length === 0) life = undefined;
    },
    stateNow: () => life,
  });
  return {
    text: Buffer.concat([...content.chunks()]).toString(),
    paths,
    error,
    left: answers.length,
  };
}

describe('a followed log', () => {
  test('resumes in the middle of a line without duplicate or missing lines', async () => {
    const all = line(1) + line(2) + line(3) + line(4);
    const begun = all.slice(0, line(1).length * 2 + 40);
    const {text, paths, error} = await follow(
      {says: begun, error: CUT},
      {says: line(2) + line(3) + line(4)},
    );
    expect(text).toBe(all);
    expect(error).toBeUndefined();
    expect(paths).toEqual([
      'sinceSeconds=86400&follow=true',
      'follow=true&sinceTime=2026-11-21T08%3A00%3A02Z',
    ]);
  });

  test('keeps all lines with the same timestamp', async () => {
    const {text} = await follow(
      {says: line(1, 'a') + line(1, 'a'), error: CUT},
      {says: line(1, 'a').repeat(3) + line(2)},
    );
    expect(text).toBe(line(1, 'a').repeat(3) + line(2));
  });

  test('is requested again from its start when there was no response', async () => {
    const {text, paths} = await follow({error: {kind: 'busy', message: 'later'}}, {says: line(1)});
    expect(text).toBe(line(1));
    expect(paths).toEqual(['sinceSeconds=86400&follow=true', 'sinceSeconds=86400&follow=true']);
  });

  test('continues after a container restart, and does not reread a finished container', async () => {
    const next: LogContainerState = {restarts: 1, isRunning: true};
    const {text, paths} = await follow({says: line(1), after: next}, {says: line(2), after: next});
    expect(text).toBe(line(1) + line(2));
    expect(paths).toEqual([
      'sinceSeconds=86400&follow=true',
      'follow=true&sinceTime=2026-11-21T08%3A00%3A01Z',
    ]);
  });

  test('continues after a restart while interrupted, and reports missing lines', async () => {
    const next: LogContainerState = {restarts: 1, isRunning: true};
    const {text, error} = await follow(
      {says: line(1), error: CUT, after: next},
      {says: line(3), after: next},
    );
    expect(text).toBe(line(1) + line(3));
    expect(error?.message).toContain('restarted while the connection was interrupted');
  });

  test('is incomplete when the pod is deleted while interrupted', async () => {
    const {text, error} = await follow({
      says: `${line(1)}2026-11-21T08:00:02.000000000Z half a l`,
      error: CUT,
    });
    expect(text).toBe(`${line(1)}2026-11-21T08:00:02.000000000Z half a l`);
    expect(error).toEqual(CUT);
  });

  test('is not requested again when its container has finished', async () => {
    const {text, paths, error} = await follow({
      says: line(1),
      after: {restarts: 0, isRunning: false},
    });
    expect({text, paths: paths.length, error}).toEqual({text: line(1), paths: 1, error: undefined});
  });
});

test('compares timestamps of any time zone and precision', async () => {
  const position = new LogPosition();
  const first = '2026-11-21T10:00:01.25+02:00 a\n';
  await textOf(position.news(chunksOf(first)));
  expect(position.from(item.path)).toContain('sinceTime=2026-11-21T08%3A00%3A01Z');
  const again = `2026-11-21T10:00:01.1+02:00 before\n${first}2026-11-21T10:00:01.3+02:00 after\nno time at all\n`;
  expect(await textOf(position.news(chunksOf(again)))).toBe(
    '2026-11-21T10:00:01.3+02:00 after\nno time at all\n',
  );
});
