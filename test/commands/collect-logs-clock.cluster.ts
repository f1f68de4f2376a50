import {execa} from 'execa';
import {expect, test} from 'vitest';
import type {ObjectFinding} from '../../src/ground/finding.ts';
import {findHelm} from '../cluster/helm/find-helm.ts';
import {findKubectl} from '../control-plane/kubectl.ts';
import {appendLog, setLogs} from '../control-plane/logs.ts';
import {pod} from '../control-plane/objects.ts';
import {type Workplace, workplace} from '../control-plane/workplace.ts';
import {PROGRAM} from '../package/built.ts';
import {collected, freshFile, unpack} from '../support/collected.ts';

const [{path: helm} = {path: 'helm'}] = await findHelm();
const HOUR = 3_600_000;
const labels = {'app.kubernetes.io/name': 'agent-local', 'app.kubernetes.io/instance': 'by-hand'};
const LINES = ['line 0', 'line 1', 'line 2'];

/** One agent that is well and two that are not as yet, of this very moment. */
async function agents(): Promise<Workplace> {
  const place = await workplace();
  const {kubectl, kubeconfig, namespace} = place;
  const named = (name: string, outcome?: 'image-pull-backoff' | 'unready') => ({
    ...pod(name, outcome ? {outcome} : {}),
    metadata: {name, labels, ...(outcome ? {annotations: {'test.scalr.io/outcome': outcome}} : {})},
  });
  await kubectl.apply(named('a'), named('b', 'image-pull-backoff'), named('c', 'unready'));
  await setLogs(kubeconfig, {namespace}, {'*': {current: LINES}});
  await kubectl('wait', 'pod/a', '--for=condition=Ready', '--timeout=20s');
  await expect.poll(() => kubectl('logs', 'a').catch(String)).toContain('line 2');
  return place;
}

const linesIn = (log: string): string[] =>
  [...log.matchAll(/ (line \d+)$/gm)].map(([, line = '']) => line);
const timed = (hours: number) => ({now: () => new Date(Date.now() + hours * HOUR)});
const isSkew = ({code}: ObjectFinding): boolean => code === 'CLOCK_SKEW';

test.each([
  [5, /^(5 h 0|4 h 59) min ahead of the clock of the cluster/],
  [-5, /^(5 h 0|4 h 59) min behind the clock of the cluster/],
  [-26, /^(26 h 0|25 h 59) min behind/],
])('collects the same logs and findings when the clock is %i h wrong, and reports the skew', async (hours, words) => {
  const place = await agents();
  const right = await collected(place, helm);
  for (const window of [[], ['--since', '1h']]) {
    const {exit, errors, text, result} = await collected(place, helm, window, timed(hours));
    expect({exit, errors}).toEqual({exit: 0, errors: []});
    expect(linesIn(text('logs/a/agent.log'))).toEqual(LINES);
    const findings = result.findings as ObjectFinding[];
    const [skew] = findings.filter(isSkew);
    expect(skew).toMatchObject({verdict: 'warning', message: expect.stringMatching(words)});
    expect(text('SUMMARY.md')).toContain(`CLOCK_SKEW): ${skew?.message}`);
    // What is said of the agents is counted by the clock of the cluster.
    expect(
      findings
        .filter((each) => !isSkew(each))
        .map(({code, subject, verdict}) => [code, subject, verdict]),
    ).toEqual(
      right.result.findings.map(({code, subject, verdict}: ObjectFinding) => [
        code,
        subject,
        verdict,
      ]),
    );
  }
  expect(right.result.findings.filter(isSkew)).toEqual([]);
});

test('compares --since-time with cluster time, and reports a time in the future', async () => {
  const place = await agents();
  const hourAgo = new Date(Date.now() - HOUR).toISOString();
  const ahead = await collected(place, helm, ['--since-time', hourAgo], timed(5));
  expect(linesIn(ahead.text('logs/a/agent.log'))).toEqual(LINES);
  expect(ahead.result.findings.map(({code}: ObjectFinding) => code)).not.toContain(
    'SINCE_IN_FUTURE',
  );
  // An hour ago on the machine.
  const wrong = await collected(
    place,
    helm,
    ['--since-time', new Date(Date.now() + 4 * HOUR).toISOString()],
    timed(5),
  );
  expect(wrong.result.findings).toContainEqual(
    expect.objectContaining({
      code: 'SINCE_IN_FUTURE',
      verdict: 'error',
      message: expect.stringContaining('is later than the current time of the cluster'),
    }),
  );
});

test.each([
  6, -6,
])('records every line once with --watch when the clock is %i h wrong', async (hours) => {
  const place = await agents();
  const interrupt = new AbortController();
  const forceQuit = new AbortController().signal;
  let said = '';
  const deps = {
    ...timed(hours),
    handleInterrupts: () => ({interrupt: interrupt.signal, forceQuit, release: () => undefined}),
    stderr: (text: string) => {
      said += text;
    },
  };
  const bundle = collected(place, helm, ['--watch', '--for', '2m'], deps);
  await expect.poll(() => said).toContain('Following logs/a/agent.log');
  await appendLog(place.kubeconfig, {namespace: place.namespace}, '*', 'line 3');
  await place.kubectl('delete', 'pod', 'c', '--grace-period=0', '--force');
  await place.kubectl('wait', 'pod/c', '--for=delete', '--timeout=20s').catch(() => undefined);
  interrupt.abort('SIGINT');
  const {exit, errors, text, names} = await bundle;
  expect({exit, errors}).toEqual({exit: 0, errors: []});
  expect(linesIn(text('logs/a/agent.log'))).toEqual([...LINES, 'line 3']);
  expect(names).toContain('gone/objects/pod/c.json');
  const times = text('events.txt')
    .split('\n')
    .filter(Boolean)
    .map((line) => line.split(' ')[0]);
  expect(times).toEqual(times.toSorted());
});

/** Of a whole process: what it writes, how long it waits, what it takes for old. */
const shifted = (hours: number): string =>
  `data:text/javascript,${encodeURIComponent(
    `const real = Date; const by = ${hours * HOUR};
     globalThis.Date = class extends real { constructor(...a) { super(...(a.length ? a : [real.now() + by])); } static now() { return real.now() + by; } };`,
  )}`;

test.each([
  7, -7,
])('writes a complete bundle with the built program when the clock is %i h wrong', async (hours) => {
  const place = await agents();
  const out = freshFile();
  const argv = [
    'collect-logs',
    '--kubeconfig',
    place.kubeconfig,
    '--namespace',
    place.namespace,
    '--helm',
    helm,
    '--out',
    out,
  ];
  const {exitCode, stderr} = await execa(
    process.execPath,
    ['--import', shifted(hours), PROGRAM, ...argv, '--kubectl', await findKubectl()],
    {reject: false},
  );
  expect(exitCode, stderr).toBe(0);
  expect(stderr).toContain(
    hours > 0 ? 'ahead of the clock of the cluster' : 'behind the clock of the cluster',
  );
  const {text, errors} = await unpack(out);
  expect(errors).toEqual([]);
  expect(linesIn(text('logs/a/agent.log'))).toEqual(LINES);
});
