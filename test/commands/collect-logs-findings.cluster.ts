import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {execa} from 'execa';
import {expect, onTestFinished, test} from 'vitest';
import Inspect from '../../src/commands/inspect.ts';
import {evidenceText, type ObjectFinding} from '../../src/ground/finding.ts';
import {directoryOf} from '../cluster/helm/charts-under-test.ts';
import {findHelm} from '../cluster/helm/find-helm.ts';
import {kubectlFor} from '../control-plane/kubectl.ts';
import {setLogs} from '../control-plane/logs.ts';
import {claim, pod} from '../control-plane/objects.ts';
import {startCluster} from '../control-plane/start-cluster.ts';
import {collected} from '../support/collected.ts';
import {installed, installedLongAgo} from '../support/installed-charts.ts';
import {runCommand} from '../support/run-command.ts';

const [{path: helm} = {path: 'helm'}] = await findHelm();
const scratch = mkdtempSync(join(tmpdir(), 'scalr-agent-'));
process.once('exit', () => rmSync(scratch, {recursive: true, force: true}));

const READY = 'The agent is ready to receive tasks';
/** As the chart labels what is its own. */
const labels = {
  'app.kubernetes.io/name': 'agent-local',
  'app.kubernetes.io/instance': 'scalr-agent',
};
const mine = <T extends object>(object: T): T => {
  const {metadata} = object as unknown as {metadata: object};
  return {...object, metadata: {...metadata, labels}};
};

/** What stands in the line that the finding of this code names. */
function proof(
  bundle: Awaited<ReturnType<typeof collected>>,
  code: string,
  object = '',
): ObjectFinding & {said: string} {
  const finding = (bundle.result.findings as ObjectFinding[]).find(
    (each) => each.code === code && each.subject.object.startsWith(object),
  );
  if (finding === undefined)
    throw new Error(`${code} was not found: ${JSON.stringify(bundle.result.findings, null, 2)}`);
  const {file, line = 0} = finding.evidence ?? {file: ''};
  expect(bundle.names).toContain(file);
  return {...finding, said: bundle.text(file).split('\n')[line - 1] ?? ''};
}

test('everything that is not well stands out, with the line that shows it', async () => {
  const place = await installed('agent-local', helm);
  const {kubectl, kubeconfig, namespace} = place;
  const mounts = {volumes: [{name: 'cache', persistentVolumeClaim: {claimName: 'cache'}}]};
  await kubectl.apply(
    mine(pod('crashes', {outcome: 'crash-loop'})),
    mine(pod('hungry', {outcome: 'oom-killed'})),
    mine(pod('imageless', {outcome: 'image-pull-backoff'})),
    mine(pod('homeless', {spec: {nodeSelector: {pool: 'nowhere'}}})),
    mine(pod('diskless', {spec: mounts})),
    mine(claim('cache', 'no-such-class')),
    ...['refused', 'behind-proxy', 'untrusting', 'full'].map((name) => mine(pod(name))),
  );
  const said = (name: string, ...lines: readonly string[]) =>
    setLogs(kubeconfig, {namespace, pod: name}, {agent: {current: lines}});
  const json = (event: string, exception = '') =>
    JSON.stringify({event, level: 'error', exception});
  await setLogs(
    kubeconfig,
    {namespace},
    {'*': {current: [READY], previous: ['starting', 'no such option: --serve']}},
  );
  await said('refused', 'starting', json('Invalid agent token'));
  await said(
    'behind-proxy',
    'starting',
    json('cannot register', 'OSError: Tunnel connection failed: 407 Proxy Authentication Required'),
    READY,
  );
  await said(
    'untrusting',
    READY,
    json('cannot register', 'x509: certificate signed by unknown authority'),
  );
  await said(
    'full',
    READY,
    'one',
    'two',
    "OSError: [Errno 28] No space left on device: '/var/lib/scalr-agent/x'",
    ...Array(9).fill('fine'),
  );
  await expect
    .poll(() => kubectl('get', 'events', '--output', 'jsonpath={.items[*].reason}'))
    .toMatch(/(?=.*FailedScheduling)(?=.*ProvisioningFailed)(?=.*Failed )/s);
  await expect
    .poll(() =>
      kubectl('get', 'pods', 'full', 'refused', '--output', 'jsonpath={.items[*].status.phase}'),
    )
    .toBe('Running Running');
  const bundle = await collected(place, helm);
  expect(proof(bundle, 'CRASH_LOOP')).toMatchObject({
    subject: {object: 'pod/crashes'},
    evidence: {file: 'logs/crashes/agent.previous.log'},
    said: expect.stringContaining('no such option: --serve'),
  });
  expect(proof(bundle, 'OOM_KILLED')).toMatchObject({
    subject: {object: 'pod/hungry'},
    said: expect.stringContaining('"reason": "OOMKilled"'),
  });
  expect(proof(bundle, 'IMAGE_NOT_FOUND')).toMatchObject({
    subject: {object: 'pod/imageless'},
    evidence: {file: 'events.txt'},
    said: expect.stringContaining('Pod/imageless  Failed'),
  });
  expect(proof(bundle, 'NODE_SELECTOR')).toMatchObject({
    subject: {object: 'pod/homeless'},
    message: expect.stringContaining("didn't match Pod's node affinity/selector"),
    said: expect.stringContaining("didn't match Pod's node affinity/selector"),
  });
  expect(proof(bundle, 'CLASS_NOT_FOUND')).toMatchObject({
    subject: {object: 'pvc/cache'},
    message: expect.stringMatching(/^PVC pending: /),
    said: expect.stringContaining('"no-such-class" not found'),
  });
  expect(proof(bundle, 'TOKEN_REJECTED')).toMatchObject({
    subject: {object: 'pod/refused'},
    evidence: {line: 2},
    said: expect.stringContaining('Invalid agent token'),
  });
  expect(proof(bundle, 'PROXY_REFUSED')).toMatchObject({
    subject: {object: 'pod/behind-proxy'},
    evidence: {line: 2},
    message: expect.stringContaining('became ready afterwards'),
  });
  expect(proof(bundle, 'TLS_UNKNOWN_AUTHORITY')).toMatchObject({
    subject: {object: 'pod/untrusting'},
    said: expect.stringContaining('x509'),
  });
  expect(proof(bundle, 'DISK_FULL')).toMatchObject({
    subject: {object: 'pod/full'},
    evidence: {line: 4},
  });
  const summary = bundle.text('SUMMARY.md');
  for (const {subject, code, evidence} of bundle.result.findings as ObjectFinding[]) {
    expect(summary).toContain(`- ${subject.object} (${code}): `);
    expect(summary).toContain(`  - see: ${evidence && evidenceText(evidence)}\n`);
  }
  const again = await runCommand(Inspect, [bundle.result.file]);
  expect(again.stdout).toBe(summary);
});

test('an old version stands out with its bugs and the command that shows its upgrade', async () => {
  const place = await installedLongAgo('agent-job', '0.5.63', helm);
  const bundle = await collected(place, helm);
  expect(proof(bundle, 'VERSION_BEHIND')).toMatchObject({
    subject: {object: 'release/scalr-agent'},
    evidence: {file: 'releases/scalr-agent/history.json'},
    said: expect.stringContaining('agent-job-0.5.63'),
    remedies: [
      {text: expect.stringMatching(/scalr-agent upgrade .*--chart-version 0\.6\.5 --dry-run$/)},
    ],
  });
  expect(proof(bundle, 'RUNS_WITHOUT_MEMORY')).toMatchObject({
    message: expect.stringContaining('30Mi'),
    said: expect.stringContaining('0.5.63'),
  });
  expect(bundle.text('SUMMARY.md')).toMatch(
    /- scalr-agent: agent-job 0\.5\.63, deployed; agent \S+, \d+ behind 0\.6\.5\n/,
  );
});

test('a policy stands out where the network enforces none', async () => {
  // Of its own: the network is that of all tests.
  const cluster = await startCluster();
  onTestFinished(cluster.stop);
  const kubectl = await kubectlFor(cluster.kubeconfig, 'kube-system');
  const selector = {matchLabels: {app: 'flannel'}};
  const spec = {
    selector,
    template: {
      metadata: {labels: selector.matchLabels},
      spec: {containers: [{name: 'kube-flannel', image: 'flannel:1'}]},
    },
  };
  await kubectl.apply({
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: {name: 'kube-flannel-ds'},
    spec,
  });
  const kubeTarget = {kubeconfig: cluster.kubeconfig, namespace: 'default'};
  const chart = await directoryOf({chart: 'agent-job', version: '0.6.5'}, scratch);
  const values = 'agent.tokenExistingSecret.name=token,agent.url=https://acme.scalr.io';
  await execa(helm, [
    'install',
    'scalr-agent',
    chart,
    '--kubeconfig',
    kubeTarget.kubeconfig,
    '--namespace',
    'default',
    '--set',
    values,
  ]);
  await setLogs(kubeTarget.kubeconfig, {namespace: 'default'}, {'*': {current: [READY]}});
  const bundle = await collected(kubeTarget, helm);
  expect(proof(bundle, 'POLICY_NOT_ENFORCED')).toMatchObject({
    verdict: 'warning',
    message: expect.stringContaining('DaemonSet kube-flannel-ds: flannel without a policy engine'),
    evidence: {file: 'network.json'},
    said: expect.stringContaining('"areEnforced"'),
  });
});
