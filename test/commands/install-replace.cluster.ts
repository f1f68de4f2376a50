import {describe, expect, test} from 'vitest';
import type {ChartName} from '../../src/charts/releases/chart-name.ts';
import {sleep} from '../../src/ground/async.ts';
import {findHelmMatrix} from '../cluster/helm/find-helm.ts';
import {chartFlags, installPlace, TOKEN} from '../support/install-place.ts';
import {install} from '../support/run-on-cluster.ts';

const RELEASE = 'scalr-agent';
const runPod = (labels: object) => ({
  metadata: {labels, annotations: {'test.scalr.io/outcome': 'unready'}},
  spec: {
    restartPolicy: 'Never',
    containers: ['runner', 'worker'].map((name) => ({name, image: 'scalr/agent'})),
  },
});

interface Replacement {
  from: ChartName;
  to: ChartName;
  /** Settings of the release that is replaced. */
  flags: (namespace: string) => readonly string[];
  /** A run as the agent makes it; it does not end by itself. */
  run: {apiVersion: string; kind: 'Pod' | 'Job'; metadata: object & {name: string}; spec: object};
  controller: string;
  steps: readonly string[];
  /** What is said of the drain besides. */
  warnings: readonly RegExp[];
}

const K8S_POD = runPod({team: 'a'});
const replacements: readonly Replacement[] = [
  {
    from: 'agent-k8s',
    to: 'agent-job',
    flags: (namespace) => [
      '--data-home',
      `/var/lib/${namespace}`,
      '--set',
      'agent.kubernetes_task_labels.team=a',
    ],
    run: {
      apiVersion: 'v1',
      kind: 'Pod',
      spec: K8S_POD.spec,
      metadata: {...K8S_POD.metadata, name: 'run-1'},
    },
    controller: 'scalr-agent-agent-k8s-controller',
    steps: ['definitions', 'stop/scalr-agent-agent-k8s-controller', 'drain', 'stopped', 'release'],
    warnings: [/grace period of the agent is 3\d{3} s/],
  },
  {
    from: 'agent-k8s',
    to: 'agent-job',
    flags: (namespace) => ['--data-home', `/var/lib/${namespace}`, '--shutdown-mode', 'graceful'],
    run: {
      apiVersion: 'v1',
      kind: 'Pod',
      spec: K8S_POD.spec,
      metadata: {...K8S_POD.metadata, name: 'run-1'},
    },
    controller: 'scalr-agent-agent-k8s-controller',
    // It would break runs off.
    steps: ['definitions', 'drain', 'stop/scalr-agent-agent-k8s-controller', 'stopped', 'release'],
    warnings: [/keeps accepting new runs during the drain/, /have no identifying label/],
  },
  {
    from: 'agent-job',
    to: 'agent-local',
    flags: () => [],
    run: {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: {name: 'atask-1'},

      spec: {
        template: runPod({
          'app.kubernetes.io/instance': RELEASE,
          'app.kubernetes.io/component': 'task',
        }),
      },
    },
    controller: 'scalr-agent',
    steps: ['stop/scalr-agent', 'drain', 'stopped', 'release'],
    warnings: [/grace period of the agent is 180 s/],
  },
];

describe.each(await findHelmMatrix())('Helm $major', ({path: helm}) => {
  test.each(replacements)('drains $from before $to replaces it: $steps', async ({
    from,
    to,
    flags,
    run,
    controller,
    steps,
    warnings,
  }) => {
    const place = await installPlace();
    const {kubectl, namespace} = place;
    const installed = async (argv: readonly string[], deps: Parameters<typeof install>[3] = {}) => {
      const {stdout, stderr, exit} = await install(
        place,
        helm,
        [...argv, '--skip-preflight', '--yes', '--json'],
        {env: TOKEN, ...deps},
      );
      return {exit, stderr, result: JSON.parse(stdout)};
    };
    const replicas = () =>
      kubectl('get', 'deployment', controller, '--output', 'jsonpath={.spec.replicas}');
    const first = await installed([...(await chartFlags(from)), ...flags(namespace)]);
    expect(first.exit, first.stderr).toBe(0);
    await kubectl.apply(run);
    const pod = await kubectl('get', 'pods', '--output', 'name');
    expect(pod).toContain(run.metadata.name);

    const argv = await chartFlags(to);
    const named = `${run.kind} ${run.metadata.name}`;
    expect((await installed(argv)).result.error).toMatchObject({
      code: 'NOT_CONFIRMED',
      message: expect.stringContaining(
        `This replaces ${from}-0.6.5 in release scalr-agent with ${to}-0.6.5; 1 run is in flight.`,
      ),
    });

    const late = await installed([...argv, '--confirm', RELEASE, '--drain-timeout', '1s']);
    expect(late.result.error).toMatchObject({
      code: 'TIMED_OUT',
      exit: 6,
      message: expect.stringContaining(` s: ${named}.`),
    });
    const isStopped = steps.indexOf(`stop/${controller}`) < steps.indexOf('drain');
    expect(late.result.error.message.includes(`Deployment ${controller} is scaled up again.`)).toBe(
      isStopped,
    );
    expect(await replicas()).toBe('1');
    const advice = late.result.error.suggestions.join('\n');
    expect(advice).toContain('longer --drain-timeout');
    expect(advice).toContain(
      `scalr-agent uninstall --release scalr-agent --namespace ${namespace}`,
    );
    expect(advice).toContain('--no-drain');

    let looks = 0;
    const ending: typeof sleep = async (milliseconds, signal) => {
      looks += 1;
      if (looks === 1) await kubectl('delete', run.kind, run.metadata.name, '--now');
      return sleep(milliseconds, signal);
    };
    const replaced = await installed([...argv, '--confirm', RELEASE, '--drain-timeout', '2m'], {
      sleep: ending,
    });
    expect(replaced.exit, replaced.stderr).toBe(0);
    expect(replaced.result.steps.map(({id}: {id: string}) => id)).toEqual(steps);
    const drain = replaced.result.warnings.flatMap(({code, message}: Record<string, string>) =>
      code === 'RUNS' ? [message] : [],
    );
    for (const each of warnings) expect(drain.join('\n')).toMatch(each);
    expect(replaced.stderr).toContain(`In flight: ${named}`);
    expect(
      await kubectl('get', 'deployments', '--output', 'jsonpath={.items[*].status.readyReplicas}'),
    ).toBe('1');
    expect(await kubectl('get', 'deployments,daemonsets', '--output', 'name')).not.toContain(
      controller === 'scalr-agent' ? 'deployment.apps/scalr-agent\n' : controller,
    );
    const again = await installed(argv);
    expect(again.result).toMatchObject({chart: to, changed: false});
  });
});
