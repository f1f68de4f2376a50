import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {nodeProcesses} from '../../../src/adapters/node-processes.ts';
import {zipArchives} from '../../../src/adapters/zip-archive.ts';
import {requireReady} from '../../../src/apply/require-ready.ts';
import {interrupted} from '../../../src/apply/run-steps.ts';
import type {Watched} from '../../../src/apply/watch-release.ts';
import {confirmPlan} from '../../../src/cli/confirm-plan.ts';
import {known} from '../../../src/cluster/facts/fact.ts';
import Uninstall from '../../../src/commands/uninstall.ts';
import type {Cause} from '../../../src/diagnose/cause.ts';
import {CAUSES} from '../../../src/diagnose/explain.ts';
import {renderChart} from '../../../src/plan/render-chart.ts';
import {type ReleaseName, template, upgradeInstall} from '../../../src/ports/helm.ts';
import {serverVersion} from '../../../src/ports/kubectl.ts';
import type {Call, Processes} from '../../../src/ports/processes.ts';
import {toolFailure} from '../../../src/ports/tool-failure.ts';
import {runChecks} from '../../../src/preflight/check.ts';
import {toolChecks} from '../../../src/preflight/checks/tools.ts';
import {refuseFailed} from '../../../src/preflight/run-preflight.ts';
import {Secret} from '../../../src/settings/secret.ts';
import {notFound} from '../../../src/status/not-found.ts';
import {redactionFor, writeBundle} from '../../../src/support-bundle/bundle.ts';
import {type Example, saidBy, saidOf} from './example.ts';

const NAME: ReleaseName = {release: 'scalr-agent', place: {namespace: 'scalr-agent'}};
const CHART = {chart: 'agent-local', version: '0.6.5'};
const INSTALL = upgradeInstall(NAME, CHART, '');
const ASKED = new AbortController();
ASKED.abort('SIGINT');
const INTERRUPTS = {asked: new AbortController().signal, insisted: new AbortController().signal, release: () => undefined};

const failing = (code: Example['code'], typed: string, part: () => unknown): Example => ({
  code,
  typed: `scalr-agent ${typed}`,
  say: saidOf(part),
});

/** What the tool really said. */
const tool = (code: Example['code'], typed: string, call: Call, stderr: string): Example =>
  failing(code, typed, () => {
    throw toolFailure(call, {exitCode: 1, stdout: '', stderr});
  });

const answering = (answer: (call: Call) => string): Processes => ({
  run: async (call) => ({exitCode: 0, stdout: answer(call), stderr: ''}),
  start: () => {
    throw new Error('nobody expected a start');
  },
});

/** A cause with the remedy that its record has. */
const cause = (code: string, reason: string): Cause => {
  const remedy = CAUSES.find((each) => each.code === code)?.remedy;
  if (remedy === undefined) throw new Error(`There is no cause ${code}.`);
  return {object: 'pod/scalr-agent-7d9c', code, reason, remedy, isHopeless: true};
};

/** A redaction that knows no secret, and a search that does. */
async function bundleWithSecret(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'bundle-'));
  const archive = await zipArchives.create(join(folder, 'bundle.zip'));
  const seeds = [{kind: 'token', value: new Secret('tok-Zr81kQv93LmXw20p')}];
  const prepared = {
    releases: [],
    scope: {objects: [], pods: []},
    texts: () => [{name: 'objects/ConfigMap/proxy.yaml', text: 'data:\n  proxy: tok-Zr81kQv93LmXw20p\n'}],
    logs: [],
    seeds,
    gaps: [],
    redaction: {redact: redactionFor([]).redact, seeds: redactionFor(seeds).seeds},
  };
  const world = {archive, now: () => new Date(0), onProgress: () => undefined, api: {} as never, over: new AbortController().signal};
  try {
    await writeBundle(prepared, 'scalr-agent', 1, world);
  } finally {
    await archive.abort();
    rmSync(folder, {recursive: true, force: true});
  }
}

const READY = {timeoutMs: 600_000, interrupts: INTERRUPTS, isLeft: true};
const watched = (state: Watched['state'], causes: readonly Cause[]): Watched => ({state, causes, agent: 'unknown'}) as Watched;

/** Failures of tools and clusters: what the tools say is what they really said. */
export const withCluster: readonly Example[] = [
  {
    code: 'TOOL_NOT_FOUND',
    typed: 'scalr-agent uninstall --kubectl /opt/bin/kubectl',
    say: saidBy(Uninstall, '--kubectl /opt/bin/kubectl --helm /opt/bin/helm', {
      processes: () => nodeProcesses({kubectl: '/nowhere/kubectl', helm: '/nowhere/kubectl'}),
    }),
  },
  tool('TOOL_FAILED', 'install --answers answers.yaml --yes', INSTALL, 'Error: UPGRADE FAILED: release scalr-agent failed: quota exceeded'),
  tool(
    'CLUSTER_UNREACHABLE',
    'uninstall --namespace scalr-agent',
    serverVersion(NAME.place),
    'Unable to connect to the server: dial tcp 10.0.0.1:443: i/o timeout',
  ),
  tool(
    'NOT_LOGGED_IN',
    'uninstall --namespace scalr-agent',
    serverVersion(NAME.place),
    'error: You must be logged in to the server (Unauthorized)',
  ),
  tool(
    'FORBIDDEN',
    'install --answers answers.yaml --yes',
    INSTALL,
    'Error: query: failed to query with labels: secrets is forbidden: User "system:serviceaccount:ci:deployer" cannot list resource "secrets" in API group "" in the namespace "scalr-agent"',
  ),
  failing('RELEASE_NOT_FOUND', 'status --namespace scalr-agent', async () => {
    const listed = JSON.stringify([{name: 'agents', chart: 'agent-local-0.6.5'}]);
    throw await notFound(
      NAME,
      undefined,
      answering(({tool: asked}) => (asked === 'helm' ? listed : 'namespace/scalr-agent')),
      new AbortController().signal,
    );
  }),
  tool(
    'RELEASE_BUSY',
    'install --answers answers.yaml --yes',
    INSTALL,
    'Error: UPGRADE FAILED: another operation (install/upgrade/rollback) is in progress',
  ),
  tool(
    'CHART_NOT_FOUND',
    'install --answers answers.yaml --yes',
    template(NAME, CHART, '', ''),
    'Error: looks like "https://scalr.github.io/agent-helm/" is not a valid chart repository or cannot be reached: Get "https://scalr.github.io/agent-helm/index.yaml": dial tcp: lookup scalr.github.io: no such host',
  ),
  tool(
    'OBJECT_OF_ANOTHER',
    'install --answers answers.yaml --yes',
    INSTALL,
    'Error: INSTALLATION FAILED: Unable to continue with install: Role "agent-k8s-role" in namespace "scalr-agent" exists and cannot be imported into the current release: invalid ownership metadata',
  ),
  failing('PREFLIGHT_FAILED', 'install --answers answers.yaml --yes', () => {
    const old = {tools: {helm: known('3.12.0', 'helm version')}} as Parameters<typeof runChecks>[1];
    refuseFailed(runChecks(toolChecks.slice(0, 1), old));
  }),
  failing('BROKEN_PROMISE', 'install --answers answers.yaml --yes', () => {
    const manifest = 'kind: Deployment\nspec: {template: {spec: {containers: [{name: agent, image: "registry.example.com//agent:"}]}}}\n';
    return renderChart(
      {name: NAME, chart: CHART, yaml: ''},
      {serverVersion: '1.35.0'},
      () => undefined,
      answering(() => manifest),
    );
  }),
  failing('NOT_CONFIRMED', 'install --answers answers.yaml', () => confirmPlan({isAccepted: false, prompter: undefined})),
  failing('NOT_READY', 'install --answers answers.yaml --yes', () =>
    requireReady(
      watched('hopeless', [cause('TOKEN_REJECTED', 'agent log: 401 Client Error: Unauthorized for url: https://acme.scalr.io')]),
      NAME,
      READY,
    ),
  ),
  failing('TIMED_OUT', 'install --answers answers.yaml --yes', () =>
    requireReady(
      watched('timed-out', [cause('PROVISIONING_SLOW', 'failed to provision volume: rpc error: code = DeadlineExceeded')]),
      NAME,
      READY,
    ),
  ),
  failing('INTERRUPTED', 'install --answers answers.yaml --yes', () => {
    throw interrupted('Done before: Create namespace scalr-agent.', ASKED.signal);
  }),
  failing('SECRET_IN_BUNDLE', 'collect-logs --namespace scalr-agent', bundleWithSecret),
];
