import {readFile, writeFile} from 'node:fs/promises';
import {createServer} from 'node:net';
import {expect, onTestFinished, test} from 'vitest';
import {parse, stringify} from 'yaml';
import {findHelm} from '../cluster/helm/find-helm.ts';
import {kubectlFor} from '../control-plane/kubectl.ts';
import {setLogs} from '../control-plane/logs.ts';
import {startCluster} from '../control-plane/start-cluster.ts';
import {workplace} from '../control-plane/workplace.ts';
import {chartFlags, installPlace, TOKEN} from '../support/install-place.ts';
import {violations} from '../support/output-schema.ts';
import {install, status} from '../support/run-on-cluster.ts';

const [{path: helm} = {path: 'helm'}] = await findHelm();

/** An address that accepts connections and never answers. */
async function silentAddress(): Promise<string> {
  const server = createServer(() => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  return `https://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
}

test('reads clusters in parallel, and a dead address is a line', async () => {
  const place = await installPlace();
  expect(
    (await install(place, helm, [...(await chartFlags('agent-local')), '--yes'], {env: TOKEN}))
      .exit,
  ).toBe(0);
  const config = parse(await readFile(place.kubeconfig, 'utf8'));
  const [own] = config.clusters;
  const {name: user} = config.users[0];
  const silent = {name: 'silent', cluster: {server: await silentAddress()}};
  const closed = {name: 'closed', cluster: {server: 'https://127.0.0.1:1'}};
  const contexts = [
    ...['fleet-a', 'fleet-b'].map((name) => ({name, context: {cluster: own.name, user}})),
    ...[silent, closed].map(({name}) => ({name: `fleet-${name}`, context: {cluster: name, user}})),
    {name: 'other', context: {cluster: own.name, user}},
  ];
  const kubeconfig = `${place.kubeconfig}.fleet-${place.namespace}`;
  await writeFile(
    kubeconfig,
    stringify({...config, clusters: [own, silent, closed], contexts, 'current-context': 'other'}),
    {mode: 0o600},
  );
  const fleet = {...place, kubeconfig};

  const start = Date.now();
  const {stdout, exit} = await status(fleet, helm, ['--contexts', 'fleet-*', '--timeout', '5s']);
  expect(Date.now() - start).toBeLessThan(60_000);
  expect(exit).toBe(1);
  for (const name of ['fleet-a', 'fleet-b'])
    expect(stdout).toMatch(
      new RegExp(`^${name} +${place.namespace} +scalr-agent +agent-local-0.6.5 +ready +1/1 `, 'm'),
    );
  for (const name of ['fleet-silent', 'fleet-closed'])
    expect(stdout).toMatch(new RegExp(`^${name} +- +- +- +unreachable$`, 'm'));
  expect(stdout).not.toMatch(/^other /m);

  const json = await status(fleet, helm, ['--contexts', 'fleet-a,fleet-b', '--json']);
  expect(violations('status', json.stdout)).toEqual([]);
  expect({exit: json.exit, ...JSON.parse(json.stdout)}).toMatchObject({
    exit: 0,
    clusters: [
      {context: 'fleet-a', releases: [{namespace: place.namespace, state: 'ready'}]},
      {context: 'fleet-b', releases: [{namespace: place.namespace, state: 'ready'}]},
    ],
  });
  const empty = await workplace();
  expect(
    (await status({...fleet, namespace: empty.namespace}, helm, ['--contexts', 'fleet-b'])).stdout,
  ).toMatch(/^fleet-b +- +- +- +not found$/m);
});

test.skipIf(!process.env['TEST_FULL'])(
  'reads two clusters with an account each, of which one goes away',
  {timeout: 240_000},
  async () => {
    const one = await installPlace();
    const other = await startCluster();
    onTestFinished(other.stop);
    const two = {kubeconfig: other.kubeconfig, namespace: one.namespace};
    await (await kubectlFor(other.kubeconfig)).apply({
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: {name: two.namespace},
    });
    await setLogs(two.kubeconfig, two, {'*': {current: ['The agent is ready to receive tasks']}});
    const charts = [
      [one, 'agent-local'],
      [two, 'agent-job'],
    ] as const;
    for (const [place, chart] of charts) {
      const {exit, stderr} = await install(place, helm, [...(await chartFlags(chart)), '--yes'], {
        env: TOKEN,
      });
      expect(exit, stderr).toBe(0);
    }
    const configs = await Promise.all(
      [one, two].map(async ({kubeconfig}) => parse(await readFile(kubeconfig, 'utf8'))),
    );
    const named = (kind: 'clusters' | 'users') =>
      configs.map((config, index) => ({...config[kind][0], name: `real-${index + 1}`}));
    const contexts = ['real-1', 'real-2'].map((name) => ({
      name,
      context: {cluster: name, user: name},
    }));
    const kubeconfig = `${one.kubeconfig}.real-${one.namespace}`;
    await writeFile(
      kubeconfig,
      stringify({...configs[0], clusters: named('clusters'), users: named('users'), contexts}),
      {mode: 0o600},
    );
    const [first, second] = charts.map(
      ([, chart], index) =>
        new RegExp(
          `^real-${index + 1} +${one.namespace} +scalr-agent +${chart}-0.6.5 +ready +1/1 `,
          'm',
        ),
    ) as [RegExp, RegExp];

    const both = await status({...one, kubeconfig}, helm, ['--contexts', 'real-*']);
    expect(both.stdout).toMatch(first);
    expect(both.stdout).toMatch(second);
    expect(both.exit).toBe(0);
    await other.stop();
    const left = await status({...one, kubeconfig}, helm, [
      '--contexts',
      'real-*',
      '--timeout',
      '10s',
    ]);
    expect(left.stdout).toMatch(first);
    expect(left.stdout).toMatch(/^real-2 +- +- +- +unreachable$/m);
    expect(left.exit).toBe(1);
  },
);
