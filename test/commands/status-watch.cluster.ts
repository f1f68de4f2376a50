import {once} from 'node:events';
import {execa} from 'execa';
import {describe, expect, test} from 'vitest';
import {kubernetesClient} from '../../src/cluster/kubernetes/connect.ts';
import {findHelm} from '../cluster/helm/find-helm.ts';
import {type FaultyApi, faultyApi} from '../control-plane/faulty-api.ts';
import {findKubectl} from '../control-plane/kubectl.ts';
import type {Workplace} from '../control-plane/workplace.ts';
import {PROGRAM} from '../package/built.ts';
import {chartFlags, installPlace, TOKEN} from '../support/install-place.ts';
import {install, status} from '../support/run-on-cluster.ts';

const [{path: helm} = {path: 'helm'}] = await findHelm();
const kubectl = await findKubectl();
const LOCAL = await chartFlags('agent-local');

async function installed(): Promise<{place: Workplace; api: FaultyApi; through: Workplace}> {
  const place = await installPlace();
  const {exit, stderr} = await install(place, helm, [...LOCAL, '--yes'], {env: TOKEN});
  expect(exit, stderr).toBe(0);
  const api = await faultyApi(place.kubeconfig);
  return {place, api, through: {...place, kubeconfig: api.kubeconfig}};
}

/** Between two looks the next of these happens; after the last one somebody presses Ctrl-C. */
function between(...steps: readonly (() => unknown)[]) {
  const interrupt = new AbortController();
  const forceQuit = new AbortController();
  const rest = [...steps];
  return {
    handleInterrupts: () => ({
      interrupt: interrupt.signal,
      forceQuit: forceQuit.signal,
      release: () => undefined,
    }),
    sleep: async (): Promise<void> => {
      const next = rest.shift();
      if (next) await next();
      else interrupt.abort('SIGINT');
    },
  };
}

describe('--watch', () => {
  test('prints the full status, then changes, until Ctrl-C', async () => {
    const {place} = await installed();
    const scale = (replicas: number) => async () => {
      await place.kubectl('scale', 'deployment', '--all', `--replicas=${replicas}`);
      await place.kubectl('rollout', 'status', 'deployment', '--timeout=30s');
    };
    const stop = scale(0);
    const start = scale(1);
    const nothing = () => undefined;
    const {stdout, stderr, exit} = await status(
      place,
      helm,
      ['--watch'],
      between(nothing, stop, start),
    );
    expect({exit, stderr}).toEqual({exit: 130, stderr: ''});
    const [whole = '', ...lines] = stdout.split(/^(?=\d\d:\d\d:\d\dZ )/m);
    expect(whole).toMatch(/^✓ Release scalr-agent [\s\S]*\nRuns /);
    expect(lines.join('')).toMatch(
      /0 of 0 ready[\s\S]*scaled to 0 replicas[\s\S]*is not ready\n[\s\S]*1 of 1 ready[\s\S]*is ready\n[\s\S]*resolved: .*STOPPED/,
    );
  });

  test('survives an API server that is temporarily unreachable', async () => {
    const {api, through} = await installed();
    let end = (): void => undefined;
    const fail = () => {
      end = api.inject('GET', /./, {status: 503}).end;
    };
    const {stdout, exit} = await status(
      through,
      helm,
      ['--watch'],
      between(
        fail,
        () => undefined,
        () => end(),
      ),
    );
    expect(exit).toBe(130);
    const [, ...lines] = stdout.split(/^(?=\d\d:\d\d:\d\dZ )/m);
    expect(lines.join('')).toMatch(
      /^\S+ \? CLUSTER_UNREACHABLE .*failed: [^\n]*\n\S+ The API server is reachable again\n$/,
    );
  });

  test('ends when the release is deleted', async () => {
    const {place} = await installed();
    const remove = () =>
      execa(helm, [
        'uninstall',
        'scalr-agent',
        '--namespace',
        place.namespace,
        '--kubeconfig',
        place.kubeconfig,
      ]);
    const {stdout, stderr, exit} = await status(place, helm, ['--watch'], between(remove));
    expect(stdout).toMatch(/^✓/);
    expect(stderr).toContain('Release scalr-agent not found');
    expect(exit).toBe(2);
  });
});

describe('--until', () => {
  const never = () => ({
    handleInterrupts: () => ({
      interrupt: new AbortController().signal,
      forceQuit: new AbortController().signal,
      release: () => undefined,
    }),
  });

  test('ready: exits with 0 when the release is ready, with a JSON document per change', async () => {
    const {place} = await installed();
    await place.kubectl('scale', 'deployment', '--all', '--replicas=0');
    const start = () => place.kubectl('scale', 'deployment', '--all', '--replicas=1');
    const {sleep} = between(start, ...Array<() => void>(1000).fill(() => undefined));
    const {stdout, exit} = await status(
      place,
      helm,
      ['--watch', '--until', 'ready', '--json', '--timeout', '5m'],
      {...never(), sleep},
    );
    const lines = stdout.trimEnd().split('\n');
    const states = lines.map((line) => JSON.parse(line).state as string);
    expect(exit, stdout).toBe(0);
    expect(states[0]).toBe('not-ready');
    expect(states.indexOf('ready')).toBe(states.length - 1);
    expect(new Set(lines).size).toBe(lines.length);
  });

  test('ready: exits with 6 after --timeout, and the error is one line too', async () => {
    const {place} = await installed();
    await place.kubectl('scale', 'deployment', '--all', '--replicas=0');
    const argv = ['--watch', '--until', 'ready', '--json', '--timeout', '3s'];
    const {stdout, exit} = await status(place, helm, argv, never());
    const last = stdout.trimEnd().split('\n').at(-1) ?? '';
    expect(JSON.parse(last).error).toMatchObject({code: 'TIMED_OUT', exit: 6});
    expect(exit).toBe(6);
  });

  test('drained: is an error where runs cannot be seen', async () => {
    const {place} = await installed();
    const {stderr, exit} = await status(place, helm, ['--watch', '--until', 'drained'], never());
    expect(stderr).toContain('agent-local executes runs inside the agent container');
    expect(exit).toBe(2);
  });
});

test('sends each request once between two looks', async () => {
  const {place} = await installed();
  const looks: string[][] = [];
  const counting = async (...where: Parameters<typeof kubernetesClient>) => {
    const own = await kubernetesClient(...where);
    return {
      ...own,
      get: (...request: Parameters<typeof own.get>) => {
        looks.at(-1)?.push(request[0]);
        return own.get(...request);
      },
    };
  };
  looks.push([]);
  const next = () => void looks.push([]);
  const {exit} = await status(place, helm, ['--watch'], {
    ...between(next, next),
    kubernetes: counting,
  });
  expect(exit).toBe(130);
  const [, second = []] = looks;
  const lists = second.filter((path) =>
    /\/(pods|events|jobs|deployments|replicasets)\?/.test(path),
  );
  expect(new Set(second).size).toBe(second.length);
  expect(lists).toHaveLength(5);
  expect(second.length).toBeLessThanOrEqual(13);
});

describe('the built program', () => {
  /** Watches in a group of its own, as a shell would start it, until it has shown the whole. */
  async function watching({kubeconfig, namespace}: Workplace) {
    const where = [
      '--kubeconfig',
      kubeconfig,
      '--namespace',
      namespace,
      '--helm',
      helm,
      '--kubectl',
      kubectl,
    ];
    const child = execa(process.execPath, [PROGRAM, 'status', ...where, '--watch'], {
      detached: true,
      stdin: 'ignore',
      reject: false,
    });
    await once(child.stdout as NodeJS.ReadableStream, 'data');
    return {
      child,
      signal: (name: NodeJS.Signals) => void process.kill(-(child.pid as number), name),
    };
  }

  test.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('ends on %s with %i, without further output', async (name, exitCode) => {
    const {child, signal} = await watching((await installed()).place);
    signal(name);
    expect(await child).toMatchObject({exitCode, stderr: ''});
  });

  test('ends on Ctrl-C during a query', async () => {
    const {api, through} = await installed();
    const {child, signal} = await watching(through);
    await api.inject('GET', /\/secrets\?labelSelector/, 'stall').hit;
    signal('SIGINT');
    expect(await child).toMatchObject({exitCode: 130, stderr: ''});
  });
});

describe('an API server that does not respond', () => {
  test('is waited for no longer than --timeout', async () => {
    const {api, through} = await installed();
    api.inject('*', /./, 'stall');
    const start = Date.now();
    const {stdout} = await status(through, helm, ['--timeout', '2s', '--json']);
    expect(JSON.parse(stdout).error).toMatchObject({code: 'CLUSTER_UNREACHABLE', exit: 1});
    expect(Date.now() - start).toBeLessThan(30_000);
  });

  test('makes the state unknown when helm gets no response, and the rest is printed', async () => {
    const {api, through} = await installed();
    api.inject('GET', /\/secrets\?labelSelector/, 'stall');
    const {stdout, exit} = await status(through, helm, ['--timeout', '10s']);
    expect(exit).toBe(1);
    expect(stdout).toMatch(
      /^\? Release [\s\S]*1 of 1 ready[\s\S]*Could not be read\n {2}\? CLUSTER_UNREACHABLE {2}Helm release: .*timed out waiting for a response\n/,
    );
  });
});
