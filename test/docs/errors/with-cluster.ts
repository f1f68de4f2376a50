import {kubernetesAdvice} from '../../../src/charts/advise.ts';
import {CAUSES} from '../../../src/checks/diagnose/explain.ts';
import {runChecks} from '../../../src/checks/preflight/checks/check.ts';
import {toolChecks} from '../../../src/checks/preflight/checks/cluster.ts';
import {refuseFailed} from '../../../src/checks/preflight/run-preflight.ts';
import {notFound} from '../../../src/checks/status/release-causes.ts';
import {changedMeanwhile} from '../../../src/cli/apply-install.ts';
import {confirmPlan} from '../../../src/cli/operate.ts';
import {template} from '../../../src/cluster/helm/chart-calls.ts';
import {uninstall, upgradeInstall} from '../../../src/cluster/helm/release-calls.ts';
import {apiFailure} from '../../../src/cluster/kubernetes/api-error.ts';
import {ClusterIdentity} from '../../../src/cluster/kubernetes/cluster-identity.ts';
import {kubernetesClient} from '../../../src/cluster/kubernetes/connect.ts';
import {renderChart} from '../../../src/cluster/release/desired-release.ts';
import Uninstall from '../../../src/commands/uninstall.ts';
import {closeChecked} from '../../../src/extensions/bundle/checked-archive.ts';
import {knownSecretSet} from '../../../src/extensions/bundle/redact/known-values.ts';
import {leakFinder} from '../../../src/extensions/bundle/redact/leak-check.ts';
import {PagedArchive} from '../../../src/extensions/bundle/report-page.ts';
import type {Call} from '../../../src/ground/call.ts';
import type {ReleaseName} from '../../../src/ground/command-line.ts';
import {interrupted} from '../../../src/ground/errors.ts';
import {known, type ReadError} from '../../../src/ground/fact.ts';
import {type ObjectFinding, objectFinding} from '../../../src/ground/finding.ts';
import {Secret} from '../../../src/ground/secret.ts';
import {nodeProcesses} from '../../../src/ground/system/node-processes.ts';
import {toolFailure} from '../../../src/ground/tool-errors.ts';
import {blockedBy} from '../../../src/operations/prepare-upgrade.ts';
import {verifyChart} from '../../../src/operations/read-chart.ts';
import {
  releaseText,
  requireReady,
  type WatchResult,
} from '../../../src/operations/watch-release.ts';
import {processesOf} from '../../cluster/platform/fake-cluster.ts';
import {fakeKubernetes} from '../../support/fake-kubernetes.ts';
import {type Example, saidBy, saidOf} from './example.ts';

const NOWHERE = '/opt/kubectl-1.35/kubectl';
const NAME: ReleaseName = {release: 'scalr-agent', kubeTarget: {namespace: 'scalr-agent'}};
const CHART = {chart: 'agent-local', version: '0.6.5'};
const INSTALL = upgradeInstall(NAME, CHART, '');
const ASKED = new AbortController();
ASKED.abort('SIGINT');
const TERMINATED = new AbortController();
TERMINATED.abort('SIGTERM');
const INTERRUPTS = {
  interrupt: new AbortController().signal,
  forceQuit: new AbortController().signal,
  release: () => undefined,
};

const failing = (code: Example['code'], typed: string, part: () => unknown): Example => ({
  code,
  typed: `scalr-agent ${typed}`,
  say: saidOf(typed, part),
});

/** What the tool really said. */
const tool = (code: Example['code'], typed: string, call: Call, stderr: string): Example =>
  failing(code, typed, () => {
    throw toolFailure(call, {exitCode: 1, stdout: '', stderr});
  });

/** What the API server really answers. */
const request = (code: Example['code'], typed: string, error: ReadError): Example =>
  failing(code, typed, () => {
    throw apiFailure(error, {}, 'version');
  });

/** A cause with the remedy that its record has. */
const cause = (code: string, message: string): ObjectFinding => {
  const remedy = CAUSES.find((each) => each.code === code)?.remedy;
  if (remedy === undefined) throw new Error(`There is no cause ${code}.`);
  return objectFinding('error', 'pod/scalr-agent-7d9c', code, {message, remedy});
};

/** An archive in which masking does not help. */
const archiveWithSecret = new PagedArchive(
  {
    add: async (name) => ({name, bytes: 42, sha256: ''}),
    abort: async () => undefined,
    async close({check}) {
      const written = {
        entries: [{name: 'objects/ConfigMap/proxy.yaml', bytes: 42, sha256: ''}],
        async *read() {
          yield Buffer.from('data:\n  proxy: tok-Zr81kQv93LmXw20p\n');
        },
        close: () => undefined,
      };
      return (await check?.(written)) ?? {bytes: 42, entries: []};
    },
  },
  '',
);

/** What the redaction missed. */
const bundleWithSecret = (): Promise<unknown> =>
  closeChecked(archiveWithSecret, {
    find: leakFinder(
      knownSecretSet([{kind: 'token', value: new Secret('tok-Zr81kQv93LmXw20p')}]).known,
    ),
    createArchive: async () => archiveWithSecret,
    manifest: () => '',
    ownFiles: () => ({}),
    firstScreen: () => '',
  });

/** The kubeconfig selects another cluster when the first step starts. */
function identityOf(planned: string, now: string) {
  const uid = (text: string) => `${text}7b52-6f0e-4c0b-9d52-2f1f0f1c7d11`;
  const namespace = (text: string) => ({metadata: {name: 'kube-system', uid: uid(text)}});
  const processes = processesOf(async () => ({
    exitCode: 0,
    stdout: JSON.stringify(namespace(now)),
    stderr: '',
  }));
  const identity = new ClusterIdentity(
    {...NAME.kubeTarget, kubeContext: 'dev'},
    {
      kubernetes: {get: async () => ({status: 200, body: namespace(planned)})},
      processes,
      now: () => new Date(),
      sleep: async () => undefined,
      onUnknown: () => undefined,
    },
  );
  return {run: () => identity.guard(processes).start(uninstall(NAME)).outcome};
}

const READY = {timeoutMs: 600_000, interrupts: INTERRUPTS};
const watched = (state: WatchResult['state'], causes: readonly ObjectFinding[]): WatchResult =>
  ({state, causes, agent: 'unknown'}) as WatchResult;

/** Failures of tools and clusters: what the tools say is what they really said. */
export const withCluster: readonly Example[] = [
  {
    code: 'TOOL_NOT_FOUND',
    typed: `scalr-agent uninstall --kubectl ${NOWHERE}`,
    say: saidBy(Uninstall, `--kubectl ${NOWHERE}`, {
      processes: () => nodeProcesses({kubectl: NOWHERE}),
      kubernetes: async (kubeTarget) => kubernetesClient(kubeTarget, {kubectl: NOWHERE}),
    }),
  },
  tool(
    'TOOL_FAILED',
    'install --answers answers.yaml --yes',
    INSTALL,
    'Error: UPGRADE FAILED: release scalr-agent failed: quota exceeded',
  ),
  request('CLUSTER_UNREACHABLE', 'uninstall --namespace scalr-agent', {
    kind: 'unreachable',
    message: 'dial tcp 10.0.0.1:443: i/o timeout',
  }),
  failing('TARGET_CHANGED', 'uninstall --kube-context dev', () => identityOf('a9c1', '57f0').run()),
  request('NOT_LOGGED_IN', 'uninstall --namespace scalr-agent', {
    kind: 'not-logged-in',
    message: 'Unauthorized',
    status: 401,
  }),
  tool(
    'FORBIDDEN',
    'install --answers answers.yaml --yes',
    INSTALL,
    'Error: query: failed to query with labels: secrets is forbidden: User "system:serviceaccount:ci:deployer" cannot list resource "secrets" in API group "" in the namespace "scalr-agent"',
  ),
  failing('RELEASE_NOT_FOUND', 'status --namespace scalr-agent', async () => {
    const listed = JSON.stringify([
      {name: 'agents', namespace: 'scalr-agent', status: 'deployed', chart: 'agent-local-0.6.5'},
    ]);
    throw await notFound(
      NAME,
      undefined,
      {
        kubernetes: fakeKubernetes({
          objects: [{apiVersion: 'v1', kind: 'Namespace', metadata: {name: 'scalr-agent'}}],
        }),
        processes: processesOf(async (call) => ({
          exitCode: 0,
          stdout: 'verb' in call && call.verb === 'list' ? listed : '{}',
          stderr: '',
        })),
        helmDriver: 'sql',
      },
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
    'NAMESPACE_TERMINATING',
    'install --answers answers.yaml --yes',
    INSTALL,
    'Error: INSTALLATION FAILED: deployments.apps "scalr-agent" is forbidden: unable to create new content in namespace agents because it is being terminated',
  ),
  tool(
    'IMMUTABLE_FIELD',
    'install --answers answers.yaml --yes',
    INSTALL,
    'Error: UPGRADE FAILED: cannot patch "scalr-agent-cache" with kind PersistentVolumeClaim: PersistentVolumeClaim "scalr-agent-cache" is invalid: spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims',
  ),
  tool(
    'CHART_NOT_FOUND',
    'install --answers answers.yaml --yes',
    template(NAME, CHART, '', ''),
    'Error: looks like "https://scalr.github.io/agent-helm/" is not a valid chart repository or cannot be reached: Get "https://scalr.github.io/agent-helm/index.yaml": dial tcp: lookup scalr.github.io: no such host',
  ),
  tool(
    'OBJECT_NOT_OWNED',
    'install --answers answers.yaml --yes',
    INSTALL,
    'Error: INSTALLATION FAILED: Unable to continue with install: Role "agent-k8s-role" in namespace "scalr-agent" exists and cannot be imported into the current release: invalid ownership metadata',
  ),
  failing('PREFLIGHT_FAILED', 'install --answers answers.yaml --yes', () => {
    const old = {tools: {helm: known('3.12.0', 'helm version')}} as Parameters<typeof runChecks>[1];
    refuseFailed(runChecks(toolChecks.slice(0, 1), old));
  }),
  failing('UPGRADE_BLOCKED', 'upgrade --namespace scalr-agent --yes', () => {
    const cluster = {server: 'v1.34.1', nodes: [{name: 'node-1', version: 'v1.34.1'}]};
    throw blockedBy(kubernetesAdvice({chart: 'agent-job', version: '0.6.5'}, cluster));
  }),
  failing('CHART_NOT_VERIFIED', 'install --answers answers.yaml --verify keyring.gpg', () => {
    const processes = processesOf(async () => ({
      exitCode: 1,
      stdout: '',
      stderr: 'Error: openpgp: signature made by unknown entity\n',
    }));
    const charts = {
      read: () => Promise.reject(),
      download: (pull: (directory: string) => Promise<void>) => pull('.').then(() => '.'),
    };
    return verifyChart({...CHART, keyring: 'keyring.gpg'}, {charts, processes});
  }),
  failing('RENDER_MISMATCH', 'install --answers answers.yaml --yes', () => {
    const manifest =
      'kind: Deployment\nspec: {template: {spec: {containers: [{name: agent, image: "registry.example.com//agent:"}]}}}\n';
    return renderChart(
      {name: NAME, chart: CHART, yaml: ''},
      {serverVersion: '1.35.0'},
      () => undefined,
      processesOf(async () => ({exitCode: 0, stdout: manifest, stderr: ''})),
    );
  }),
  failing('NOT_CONFIRMED', 'install --answers answers.yaml', () =>
    confirmPlan({isAccepted: false, prompter: undefined}),
  ),
  failing('NOT_READY', 'install --answers answers.yaml --yes', () =>
    requireReady(
      watched('failed', [
        cause(
          'TOKEN_REJECTED',
          'agent log: 401 Client Error: Unauthorized for url: https://acme.scalr.io',
        ),
      ]),
      releaseText(NAME, true),
      READY,
    ),
  ),
  failing('TIMED_OUT', 'install --answers answers.yaml --yes', () =>
    requireReady(
      watched('timed-out', [
        cause(
          'PROVISIONING_SLOW',
          'failed to provision volume: rpc error: code = DeadlineExceeded',
        ),
      ]),
      releaseText(NAME, true),
      READY,
    ),
  ),
  failing('INTERRUPTED', 'install --answers answers.yaml --yes', () => {
    throw interrupted('Completed: Create namespace scalr-agent.', ASKED.signal);
  }),
  failing('TERMINATED', 'install --answers answers.yaml --yes', () => {
    throw interrupted('Completed: Create namespace scalr-agent.', TERMINATED.signal);
  }),
  failing('PLAN_CHANGED', 'install --answers answers.yaml', () => {
    throw changedMeanwhile();
  }),
  failing('SECRET_IN_BUNDLE', 'collect-logs --namespace scalr-agent', bundleWithSecret),
];
