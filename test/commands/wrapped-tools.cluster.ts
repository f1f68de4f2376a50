import {chmodSync, mkdtempSync, rmSync, symlinkSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterAll, expect, onTestFinished, test, vi} from 'vitest';
import type {CheckDocument} from '../../src/checks/preflight/checks/check.ts';
import {findHelm} from '../cluster/helm/find-helm.ts';
import {findKubectl} from '../control-plane/kubectl.ts';
import {chartFlags, installPlace, TOKEN} from '../support/install-place.ts';
import {install, preflight, status, uninstall} from '../support/run-on-cluster.ts';

const scratch = mkdtempSync(join(tmpdir(), 'scalr-agent-'));
afterAll(() => rmSync(scratch, {recursive: true, force: true}));
const [{path: helm} = {path: 'helm'}] = await findHelm();

function script(name: string, ...lines: string[]): string {
  const path = join(scratch, name);
  writeFileSync(path, ['#!/bin/sh', ...lines, ''].join('\n'));
  chmodSync(path, 0o755);
  return path;
}

/** A shell script that does something before it becomes the tool. */
const wrapper = (name: string, tool: string, before: string): string =>
  script(name, before, `exec '${tool}' "$@"`);

/** As the snap does it: `microk8s kubectl`, with the name `microk8s.kubectl`, sets its kubeconfig before other flags. */
function microk8s(kubectl: string, kubeconfig: string): string {
  const program = script(
    'microk8s',
    '[ "$1" = kubectl ] || exit 2',
    'shift',
    `exec '${kubectl}' '--kubeconfig=${kubeconfig}' "$@"`,
  );
  return script('microk8s.kubectl', `exec '${program}' kubectl "$@"`);
}

/** As k3s does it: a program that is kubectl when a link calls it so, with a kubeconfig unless one is set. */
function k3s(kubectl: string, kubeconfig: string): string {
  const program = script(
    'k3s',
    `export KUBECONFIG="\${KUBECONFIG:-${kubeconfig}}"`,
    'case "$0" in */kubectl) ;; *) [ "$1" = kubectl ] || exit 2; shift ;; esac',
    `exec '${kubectl}' "$@"`,
  );
  const link = join(mkdtempSync(join(scratch, 'bin-')), 'kubectl');
  symlinkSync(program, link);
  return link;
}

const CHATTY = 'echo "wrapper: using the tools of the team"; echo "wrapper: ready" >&2';

test('works with tools that print lines before their output', async () => {
  const place = await installPlace();
  const tools = ['--kubectl', wrapper('kubectl', await findKubectl(), CHATTY)];
  const chatty = wrapper('helm', helm, CHATTY);
  const agent = [...(await chartFlags('agent-local')), ...tools];
  const checked = await preflight(place, chatty, [...agent, '--json'], {env: TOKEN});
  const {checks} = JSON.parse(checked.stdout) as {checks: CheckDocument[]};
  const failed = checks.filter((each) => each.status === 'fail');
  expect(failed, checked.stderr).toEqual([]);
  const installed = await install(place, chatty, [...agent, '--yes'], {env: TOKEN});
  expect(installed.exit, installed.stderr).toBe(0);
  const shown = await status(place, chatty, [...tools, '--json'], {});
  expect(JSON.parse(shown.stdout)).toMatchObject({state: 'ready'});
});

test('takes oc for kubectl, and does not compare its version', async () => {
  const place = await installPlace();
  const oc = `[ "$1" = version ] && echo '{"clientVersion": {"gitVersion": "4.20.0-202510"}, "releaseClientVersion": "4.20.1"}' && exit`;
  const tools = ['--kubectl', wrapper('oc', await findKubectl(), oc)];
  const agent = [...(await chartFlags('agent-local')), ...tools];
  const checked = await preflight(place, helm, [...agent, '--json'], {env: TOKEN});
  const {checks} = JSON.parse(checked.stdout) as {checks: CheckDocument[]};
  expect(checks.find(({id}) => id === 'kubectl-version')).toMatchObject({
    status: 'pass',
    message: expect.stringMatching(/^oc 4\.20\.0, API server v?1\./),
  });
});

test.each([
  ['MicroK8s', microk8s],
  ['k3s', k3s],
] as const)('works with kubectl of %s, and stops before the first step where helm cannot follow', async (_, distribution) => {
  const place = await installPlace();
  const tools = ['--kubectl', distribution(await findKubectl(), place.kubeconfig)];
  const agent = [...(await chartFlags('agent-local')), ...tools];
  const installed = await install(place, helm, [...agent, '--yes'], {env: TOKEN});
  expect(installed.exit, installed.stderr).toBe(0);
  vi.stubEnv('HOME', scratch);
  vi.stubEnv('KUBECONFIG', '');
  onTestFinished(() => void vi.unstubAllEnvs());
  const own = {...place, kubeconfig: ''};
  const shown = await status(own, helm, [...tools, '--json'], {});
  expect(JSON.parse(shown.stdout), shown.stderr).toMatchObject({state: 'ready'});
  const {stdout, exit} = await uninstall(own, helm, [...tools, '--yes', '--json'], {});
  expect({exit, error: JSON.parse(stdout).error}).toMatchObject({
    exit: 1,
    error: {
      code: 'CLUSTER_UNREACHABLE',
      message: expect.stringContaining('Nothing was changed.'),
      suggestions: [expect.stringContaining('--kubeconfig: kubectl config view --raw')],
    },
  });
  const replicas = 'jsonpath={.items[*].spec.replicas}';
  expect(await place.kubectl('get', 'deployments', '--output', replicas)).toBe('1');
});

test('says that --kubectl takes no arguments', async () => {
  const place = await installPlace();
  const {stdout, exit} = await status(place, helm, ['--kubectl', 'microk8s kubectl', '--json'], {});
  expect(exit).toBe(2);
  expect(JSON.parse(stdout).error).toMatchObject({
    code: 'TOOL_NOT_FOUND',
    suggestions: [
      '--kubectl takes one program without arguments',
      expect.stringContaining('microk8s.kubectl'),
      'For an agent outside Kubernetes, add --target docker or --target systemd',
    ],
  });
});
