import {mkdtempSync, rmSync} from 'node:fs';
import {readFile, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {execa} from 'execa';
import {afterAll, expect, onTestFinished, test} from 'vitest';
import {parse} from 'yaml';
import {directoryOf} from '../cluster/helm/charts-under-test.ts';
import {findHelm} from '../cluster/helm/find-helm.ts';
import {findKubectl} from '../control-plane/kubectl.ts';
import type {Workplace} from '../control-plane/workplace.ts';
import {PROGRAM} from '../package/built.ts';
import {installPlace} from '../support/install-place.ts';
import {violations} from '../support/output-schema.ts';

const [{path: helm} = {path: 'helm'}] = await findHelm();
const scratch = mkdtempSync(join(tmpdir(), 'scalr-agent-'));
afterAll(() => rmSync(scratch, {recursive: true}));

const MOUNT = 'mount -t tmpfs none /var/run';
const inNamespace = (script: string, ...args: readonly string[]): string[] => [
  '--map-root-user',
  '--mount',
  'sh',
  '-ec',
  script,
  'sh',
  ...args,
];
const {failed: cannotMount} = await execa('unshare', inNamespace(MOUNT), {reject: false});

/** Mounts the files of a service account where a pod has them, and runs a command there. */
const IN_POD = `${MOUNT}
mkdir -p /var/run/secrets/kubernetes.io/serviceaccount
cp "$FILES"/* /var/run/secrets/kubernetes.io/serviceaccount/
exec "$@"
`;

interface Config {
  clusters: [{cluster: {server: string; 'certificate-authority': string}}];
}

/** Runs the built program as a pod of a CI runner does: with a service account that may do everything, without a kubeconfig. */
async function runner({kubeconfig, namespace, kubectl}: Workplace) {
  const name = `runner-${namespace}`;
  await kubectl('create', 'serviceaccount', 'runner');
  await kubectl(
    'create',
    'clusterrolebinding',
    name,
    '--clusterrole=cluster-admin',
    `--serviceaccount=${namespace}:runner`,
  );
  onTestFinished(async () => void (await kubectl('delete', 'clusterrolebinding', name)));
  const files = mkdtempSync(join(scratch, 'account-'));
  const {clusters} = parse(await readFile(kubeconfig, 'utf8')) as Config;
  const [{cluster}] = clusters;
  await writeFile(join(files, 'token'), await kubectl('create', 'token', 'runner'));
  await writeFile(join(files, 'namespace'), namespace);
  await writeFile(join(files, 'ca.crt'), await readFile(cluster['certificate-authority']));
  const {hostname, port} = new URL(cluster.server);
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: files,
    FILES: files,
    KUBERNETES_SERVICE_HOST: hostname,
    KUBERNETES_SERVICE_PORT: port,
  };
  const tools = ['--namespace', namespace, '--helm', helm, '--kubectl', await findKubectl()];
  return async (command: string, ...argv: string[]) => {
    const args = [process.execPath, PROGRAM, command, ...argv, ...tools];
    const {stdout, stderr, exitCode} = await execa('unshare', inNamespace(IN_POD, ...args), {
      env,
      extendEnv: false,
      reject: false,
      stdin: 'ignore',
    });
    return {stdout, stderr, exitCode};
  };
}

test.skipIf(cannotMount)(
  'a pod with a service account installs, reads, changes and uninstalls an agent',
  {
    timeout: 240_000,
  },
  async () => {
    const place = await installPlace();
    const run = await runner(place);
    const source = await directoryOf({chart: 'agent-local', version: '0.6.5'}, scratch);
    const chart = ['--chart', 'agent-local', '--chart-source', source];
    const token = join(scratch, 'token');
    await writeFile(token, 'hunter2');
    const given = [...chart, '--url', 'https://acme.scalr.io', '--token-file', token];
    const account = {namespace: place.namespace, context: ''};

    const preflight = await run('preflight', ...given, '--json');
    expect(preflight.stderr).not.toContain('config view');
    const checks = JSON.parse(preflight.stdout).checks as {status: string; title: string}[];
    expect(checks.filter(({status}) => status === 'fail')).toEqual([]);

    const planned = await run('install', ...given, '--dry-run');
    expect(planned.stderr).toMatch(/Cluster +in-cluster https:\/\/127\.0\.0\.1:\d+, Kubernetes v/);
    expect(planned.stderr).toMatch(/Context +\(none, service account of this pod\)/);

    const installed = await run('install', ...given, '--yes', '--json');
    expect(installed.exitCode, installed.stdout).toBe(0);
    expect(violations('install', installed.stdout)).toEqual([]);
    expect(JSON.parse(installed.stdout)).toMatchObject({...account, agent: 'registered'});

    const status = await run('status', '--json');
    expect(status.exitCode, status.stdout).toBe(0);
    expect(JSON.parse(status.stdout)).toMatchObject({...account, state: 'ready', unread: []});

    const debug = await run('debug', 'on', '--chart-source', source, '--yes');
    expect(debug.exitCode, debug.stderr).toBe(0);

    const upgraded = await run(
      'upgrade',
      '--chart-source',
      source,
      '--values',
      '/dev/null',
      '--yes',
    );
    expect(upgraded.exitCode, upgraded.stderr).toBe(0);

    const next = join(scratch, 'token');
    await writeFile(next, 'hunter3');
    const rotated = await run('rotate-token', '--token-file', token, '--yes');
    expect(rotated.exitCode, rotated.stderr).toBe(0);

    const bundle = await run('collect-logs', '--out', join(scratch, 'bundle.zip'), '--json');
    expect(bundle.exitCode, bundle.stderr).toBe(0);

    const uninstalled = await run('uninstall', '--yes', '--json');
    expect(uninstalled.exitCode, uninstalled.stdout).toBe(0);
    expect(JSON.parse(uninstalled.stdout)).toMatchObject({...account, complete: true});
    expect(await place.kubectl('get', 'deployments', '--output', 'name')).toBe('');
  },
);
