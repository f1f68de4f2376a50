import {chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {beforeEach, describe, expect, test} from 'vitest';
import {runBuilt} from './built.ts';

const LINE = ['values', '--url', 'https://acme.scalr.io', '--chart', 'agent-local'];
const right = runBuilt('scalr-agent', LINE, {env: {NODE_DISABLE_COMPILE_CACHE: '1'}}).stdout;
let home: string;
let place: string;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'scalr-agent-'));
  place = join(home, '.cache', 'scalr-agent');
});

function run(env: Readonly<Record<string, string>> = {}): void {
  const {stdout, stderr, status} = runBuilt('scalr-agent', LINE, {env: {HOME: home, ...env}});
  expect({stdout, stderr, status}).toEqual({stdout: right, stderr: '', status: 0});
}

const kept = (): string => join(place, 'values.compiled');

test('the second start finds what the first compiled, and nothing is missing in it', () => {
  run();
  const {ino, mode} = statSync(kept());
  run();
  expect(statSync(kept()).ino).toBe(ino);
  expect(mode & 0o777).toBe(0o600);
  expect(statSync(place).mode & 0o777).toBe(0o700);
  expect(readdirSync(place)).toEqual(['values.compiled']);
});

test('what one way of calling a command needs stays beside what another needs', () => {
  run();
  const help = () => runBuilt('scalr-agent', ['values', '--help'], {env: {HOME: home}}).status;
  expect(help()).toBe(0);
  const {ino} = statSync(kept());
  run();
  expect(help()).toBe(0);
  expect(statSync(kept()).ino).toBe(ino);
});

test.each([
  ['collect-logs', '--namespace', 'x', '--kubectl', '/nowhere', '--helm', '/nowhere'],
  ['preflight', '--url', 'https://acme.scalr.io', '--kubectl', '/nowhere', '--helm', '/nowhere'],
  ['status', '--namespace', 'x', '--kubectl', '/nowhere', '--helm', '/nowhere'],
])('%s finds what it compiled, although it has not come far', (...line) => {
  const start = (): number | null => runBuilt('scalr-agent', line, {env: {HOME: home}}).status;
  expect(start()).not.toBe(0);
  const file = join(place, `${line[0]}.compiled`);
  const {ino} = statSync(file);
  start();
  expect(statSync(file).ino).toBe(ino);
});

describe('what is not whole is not run', () => {
  const damages: Readonly<Record<string, (bytes: Buffer, start: number) => Buffer>> = {
    'a bit': (bytes, start) => {
      const at = start + Math.floor((bytes.length - start) / 3);
      bytes[at] = (bytes[at] ?? 0) ^ 4;
      return bytes;
    },
    'a page of zeros': (bytes, start) => bytes.fill(0, start + 40_000, start + 44_096),
    'the end': (bytes) => bytes.subarray(0, -1),
    'all but the head': (bytes, start) => bytes.subarray(0, start),
    'the head': (bytes) => bytes.fill('x', 0, 8),
    everything: () => Buffer.alloc(0),
    'another build': (bytes) => Buffer.from(bytes.toString('latin1').replace(/"for":"./, '"for":"x'), 'latin1'),
  };
  test.each(Object.entries(damages))('%s', (_, damage) => {
    run();
    const bytes = readFileSync(kept());
    const whole = Buffer.from(bytes);
    const damaged = damage(bytes, bytes.indexOf('\n') + 1);
    expect(damaged.equals(whole)).toBe(false);
    writeFileSync(kept(), damaged);
    const {ino} = statSync(kept());
    run();
    // Compiled anew, and kept again.
    expect(statSync(kept()).ino).not.toBe(ino);
    expect(statSync(kept()).size).toBeGreaterThan(100_000);
  });
});

describe('nothing is kept', () => {
  test('where it is not wanted', () => {
    run({NODE_DISABLE_COMPILE_CACHE: '1'});
    expect(readdirSync(home)).toEqual([]);
  });

  test.skipIf(process.geteuid === undefined)('where others may write', () => {
    mkdirSync(place, {recursive: true});
    chmodSync(place, 0o777);
    writeFileSync(kept(), 'mine');
    run();
    expect(readFileSync(kept(), 'utf8')).toBe('mine');
  });

  test('where there is no place for it', () => {
    writeFileSync(join(home, 'file'), '');
    run({HOME: join(home, 'file')});
    run({XDG_CACHE_HOME: join(home, 'missing', 'too')});
    run({XDG_CACHE_HOME: 'relative'});
    if (existsSync('/proc/self')) run({XDG_CACHE_HOME: '/proc/nowhere'});
    expect(readdirSync(home)).toEqual(['file']);
  });
});
