import {unreadFacts} from '../../src/answers/discovered.ts';
import type {App} from '../../src/cli/app.ts';
import {ClusterConnections} from '../../src/cli/cluster-connections.ts';
import {uninstall} from '../../src/cluster/helm/release-calls.ts';
import {untriedBecause} from '../../src/cluster/kubernetes/trial-objects.ts';
import ExportCommand from '../../src/commands/export.ts';
import Images from '../../src/commands/images.ts';
import Validate from '../../src/commands/validate.ts';
import Values from '../../src/commands/values.ts';
import {keptLines} from '../../src/extensions/machine/variables.ts';
import {unknown} from '../../src/ground/fact.ts';
import type {Finding} from '../../src/ground/finding.ts';
import {Secret} from '../../src/ground/secret.ts';
import {
  rotatedWarnings,
  unusedSecretWarnings,
  userWarnings,
} from '../../src/operations/install-secrets.ts';
import {runWarnings} from '../../src/operations/restart-warnings.ts';
import {notCheckedWarnings} from '../../src/operations/server-dry-run.ts';
import {planWarnings} from '../../src/ui/review.ts';
import {deployment} from '../checks/diagnose/objects.ts';
import {processesOf} from '../cluster/platform/fake-cluster.ts';
import {failingKubernetes} from '../support/fake-kubernetes.ts';
import {memoryFiles} from '../support/memory-files.ts';
import {runCommand} from '../support/run-command.ts';
import {settingsFrom, TODAY} from '../support/settings-from.ts';

const SCREEN = {hasColor: false, columns: 78};
const ADDRESS = ['--url', 'https://acme.scalr.io'];

type Run = readonly [
  command: Parameters<typeof runCommand>[0],
  argv: readonly string[],
  deps?: Parameters<typeof runCommand>[2],
];

const EMPTY = {...memoryFiles({}), list: async () => [], kindOf: async () => 'directory'};

/** Commands that warn. */
const RUNS: readonly Run[] = [
  [Values, [...ADDRESS, '--chart', 'agent-k8s', '--https-proxy', 'http://proxy:3128']],
  [Values, [...ADDRESS, '--chart', 'agent-job', '--chart-version', '0.5.77']],
  [Images, [...ADDRESS, '--chart', 'agent-k8s']],
  [ExportCommand, ['systemd', ...ADDRESS, '--out', 'vm', '--yes']],
  [Validate, ['deploy', '--no-ignore'], {files: EMPTY} as never],
];

/** Each warning that these commands print, with the code at its end. */
export async function printedWarnings(): Promise<(readonly [string, string])[]> {
  const printed = await Promise.all(
    RUNS.map(([command, argv, deps]) => runCommand(command, [...argv], {...deps, screen: SCREEN})),
  );
  return printed.flatMap(({stderr}) =>
    [...stderr.matchAll(/^Warning: [\s\S]+?\s([A-Z][A-Z0-9_]+)$/gm)].map(
      ([text, code = '']) => [code, text] as const,
    ),
  );
}

type Desired = Parameters<typeof rotatedWarnings>[0];
type Facts = Parameters<typeof rotatedWarnings>[1];

const TOKEN = {name: 'scalr-agent-token', data: {token: new Secret('new')}};

const RELEASE = {
  name: {release: 'scalr-agent', kubeTarget: {namespace: 'scalr-agent'}},
  manifest: [],
  secrets: [TOKEN],
} as unknown as Desired;

const INSTALLED_SECRET = {
  metadata: {name: TOKEN.name, annotations: {'scalr.io/token-rotated': '2026-11-01T09:30:00Z'}},
  data: {token: 'b2xk'},
};

const SECRETS = {
  secrets: new Map([[TOKEN.name, INSTALLED_SECRET]]),
  unlistedUsers: ['cronjobs', 'pods'],
  installed: [
    {
      kind: 'Deployment',
      metadata: {name: 'scalr-agent'},
      spec: {volumes: [{name: 'tls', secret: {secretName: 'scalr-agent-client-cert'}}]},
    },
  ],
} as unknown as Facts;

const FORBIDDEN =
  'Error from server (Forbidden): pods is forbidden: User "ci" cannot create resource "pods" in API group "" in the namespace "scalr-agent"';

/** What a plan is shown with. */
export const plannedWarnings = async (): Promise<Finding[]> => [
  ...planWarnings({
    steps: [],
    keptClaims: ['scalr-agent-cache'],
    lostValues: [{path: 'agent.debug', installed: '1', file: undefined}],
  } as unknown as Parameters<typeof planWarnings>[0]),
  ...rotatedWarnings(RELEASE, SECRETS),
  ...userWarnings(RELEASE, SECRETS),
  ...unusedSecretWarnings(RELEASE, SECRETS),
  ...notCheckedWarnings([
    {what: 'Pod of Deployment scalr-agent', reason: untriedBecause(FORBIDDEN) ?? ''},
  ]),
  ...keptLines(['HTTP_PROXY=http://proxy:3128']),
  ...unreadFacts(
    {
      platform: {cloud: unknown('forbidden', 'Your user cannot list nodes')},
      nodeSystems: {ofWorkers: unknown('forbidden', 'Your user cannot list nodes')},
      networks: {},
      versions: {oldest: unknown('forbidden', 'Your user cannot list nodes')},
      forbidsHostPath: unknown('forbidden', 'Your user cannot list nodes'),
    } as unknown as Parameters<typeof unreadFacts>[0],
    await settingsFrom({url: 'https://acme.scalr.io'}),
  ),
  ...(await ofRestart()),
  ...(await ofConnections()),
];

/** An update of agent-local, whose agents execute the runs. */
const ofRestart = (): Promise<Finding[]> =>
  runWarnings(
    {
      name: RELEASE.name,
      steps: [{call: {tool: 'helm'}}],
      manifest: [deployment({}, {template: {spec: {containers: []}}})],
      facts: {
        release: {chart: 'agent-local-0.6.5', values: {}},
        installed: [deployment()],
        drift: [],
        stopped: new Map(),
      },
    } as unknown as Parameters<typeof runWarnings>[0],
    {kubernetes: {} as never},
    new AbortController().signal,
  );

/** Neither the variable nor the cluster that it selects is used. */
async function ofConnections(): Promise<Finding[]> {
  const found: Finding[] = [];
  const app = {
    env: {HELM_KUBECONTEXT: 'staging'},
    kubernetes: async () => failingKubernetes({kind: 'forbidden', message: 'forbidden'}),
    processes: () => processesOf(async () => ({exitCode: 0, stdout: '', stderr: ''})),
    now: () => TODAY,
    sleep: async () => undefined,
  } as unknown as App;
  const connections = new ClusterConnections(app, {
    report: (all) => found.push(...all),
    login: undefined,
    signal: new AbortController().signal,
  });
  const {processes} = await connections.accessTo(RELEASE.name.kubeTarget, {});
  await processes.start(uninstall(RELEASE.name)).outcome;
  return found;
}
