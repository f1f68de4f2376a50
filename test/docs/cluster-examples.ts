import {dockerFindings, journalFindings} from '../../src/checks/diagnose/host-findings.ts';
import {LogMatcher, type LogRecord} from '../../src/checks/diagnose/log-matcher.ts';
import {driftFinding} from '../../src/checks/status/drift-finding.ts';
import type {StatusReadings} from '../../src/checks/status/status.ts';
import type {KubernetesObject} from '../../src/cluster/kubernetes/objects.ts';
import type {NetworkPolicies} from '../../src/cluster/platform/policies.ts';
import {clusterFindings as findingsOfObjects} from '../../src/extensions/bundle/cluster-findings.ts';
import {clockSkewFindings} from '../../src/extensions/bundle/collect/read-objects.ts';
import {
  cacheFindings,
  debugFindings,
  policyFindings,
  versionFindings,
} from '../../src/extensions/bundle/findings.ts';
import {BundlePositions} from '../../src/extensions/bundle/positions.ts';
import {stateOfContainer} from '../../src/extensions/machine/agents.ts';
import {known} from '../../src/ground/fact.ts';
import type {Finding} from '../../src/ground/finding.ts';
import type {HostTools} from '../../src/ground/system/system.ts';
import {afterStart, deployment, replicaSet, START} from '../checks/diagnose/objects.ts';
import {ofJob, runPod, WITH_HISTORY} from '../checks/status/histories.ts';
import {lookAt, NOW, revision, statusFrom, WELL} from '../checks/status/readings.ts';

/** What `status` and a bundle print about states of a cluster and of a machine. */
export const clusterFindings = async (): Promise<Finding[]> => [
  ...ofReleases(),
  ...ofMachines(),
  ...(await ofSilentContainer()),
  ...ofBundles(),
];

const eventOfRun = (reason: string, second: number, message = ''): KubernetesObject =>
  ({
    kind: 'Event',
    metadata: {name: `${reason}-${second}`},
    reason,
    message,
    eventTime: afterStart(second).toISOString(),
    involvedObject: {kind: 'Pod', name: 'atask-1'},
  }) as KubernetesObject;

/** States of a release, of its controller, and of the start of a run. */
const STATES: readonly Partial<StatusReadings>[] = [
  ...WITH_HISTORY,
  ...['failed', 'pending-upgrade', 'uninstalling'].map((status) => ({
    revision: revision({status, description: 'timed out waiting for the condition'}),
  })),
  {releaseSnapshot: lookAt([])},
  {releaseSnapshot: lookAt([deployment({}, {replicas: 0}), replicaSet()])},
  {
    controller: {
      name: 'Argo CD application argocd/agents',
      state: 'failed',
      reason: 'ComparisonError: failed to load the target state',
      remedies: ['Show the application: argocd app get agents'],
    },
  },
  ofJob(
    ...WELL,
    runPod('atask-1', {phase: 'Running'}),
    eventOfRun('Scheduled', 0),
    eventOfRun(
      'Pulled',
      62,
      'Successfully pulled image "scalr/runner:0.2.0" in 1m2.5s (1m2.5s including waiting). Image size: 9 bytes.',
    ),
    eventOfRun('Started', 65),
  ),
];

const ofReleases = (): Finding[] => [
  ...STATES.flatMap((readings) => {
    const {recent, causes, advice} = statusFrom(readings);
    return [...recent, ...causes, ...advice];
  }),
  driftFinding({
    object: 'Deployment acme',
    problem: 'changed',
    paths: ['spec.template.spec.containers[agent].image'],
  }),
];

/** As a log on its way into the bundle is read. */
function logOf(file: string, tail: string): LogRecord {
  const matcher = new LogMatcher();
  matcher.push(Buffer.from(tail));
  return {file, bytes: tail.length, tail, ...matcher.end()};
}

const container = (State: object, log = ''): Finding[] =>
  dockerFindings('scalr-agent', {State}, [logOf('logs/docker/scalr-agent.log', log)], NOW);

const AGENT = {ActiveState: 'active', SubState: 'running', Result: 'success'};

const service = (facts: Readonly<Record<string, string>>, variables: string[] = []): Finding[] =>
  journalFindings(
    [
      {name: 'scalr-agent', variables, facts: {...AGENT, ...facts}},
      {name: 'scalr-docker', variables: [], facts: AGENT},
    ],
    [],
    NOW,
  );

const ofMachines = (): Finding[] => [
  ...container({Status: 'running', Running: true}),
  ...container({Status: 'exited', Running: false, ExitCode: 1, FinishedAt: START}, 'bye\n'),
  ...container({Status: 'paused', Running: true, Paused: true}, 'hello\n'),
  ...container(
    {Status: 'running', Running: true},
    'Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?\n',
  ),
  ...service({NeedDaemonReload: 'yes'}),
  ...service({}, ['HTTPS_PROXY']),
];

/** Its log has no line about a registration. */
async function ofSilentContainer(): Promise<readonly Finding[]> {
  const container = {
    Name: '/scalr-agent',
    State: {Status: 'running', Running: true, StartedAt: START},
    Config: {Image: 'scalr/agent:1.4.0'},
  } as Parameters<typeof stateOfContainer>[0];
  const host: HostTools = {
    run: async () => ({stdout: ''}),
    stream: async () => ({
      end: Promise.resolve(undefined),
      chunks: (async function* () {
        yield Buffer.from(`${START} starting\n`);
      })(),
    }),
  };
  const {signal} = new AbortController();
  const {causes} = await stateOfContainer(container, {host, signal, now: () => NOW});
  return causes;
}

const NOWHERE = new BundlePositions([], new Set(), []);

const release = (version: string) =>
  ({
    name: 'acme',
    kubeTarget: {namespace: 'scalr'},
    target: {chart: 'agent-job', version},
  }) as const;

const POLICY: KubernetesObject = {
  kind: 'NetworkPolicy',
  metadata: {name: 'acme-network-policy', annotations: {'meta.helm.sh/release-name': 'acme'}},
};

const policies = (areEnforced: boolean, blocksMetadata: boolean): {policies: NetworkPolicies} => ({
  policies: {
    areEnforced: known(
      areEnforced,
      areEnforced
        ? 'DaemonSet calico-node: Calico'
        : 'DaemonSet kube-flannel-ds: flannel without a policy engine',
    ),
    blockMetadata: known(blocksMetadata, 'agent-job 0.6.5, README'),
  },
});

const policy = (chart: 'agent-job' | 'agent-k8s', found: {policies: NetworkPolicies}): Finding[] =>
  policyFindings({name: 'acme', chart, version: '0.6.5'}, [POLICY], found, NOWHERE);

const downloads = (line: string): Finding[] =>
  cacheFindings([logOf('logs/atask-1/runner.log', `${line}\n`)]);

const AGENT_WITHOUT_PODS = deployment({}, {replicas: 0});
const STOPPED: KubernetesObject = {
  ...AGENT_WITHOUT_PODS,
  metadata: {...AGENT_WITHOUT_PODS.metadata, namespace: 'scalr'},
};

const ofBundles = (): Finding[] => [
  ...findingsOfObjects({
    objects: [STOPPED],
    logs: [],
    places: NOWHERE,
    replicas: {},
    now: NOW,
  }),
  ...versionFindings(release('0.5.68'), {server: 'v1.35.1', nodes: []}, NOWHERE),
  ...versionFindings(release('0.5.77'), {server: 'v1.35.1', nodes: []}, NOWHERE),
  ...versionFindings(release('0.6.5'), {server: 'v1.30.2', nodes: []}, NOWHERE),
  ...policy('agent-job', policies(false, false)),
  ...policy('agent-k8s', policies(true, true)),
  ...policy('agent-job', policies(true, false)),
  ...downloads('Initialized 20 plugins in 6.09s (19 used from cache)'),
  ...downloads('Initialized 3 plugins in 6.09s (0 used from cache)'),
  ...debugFindings({...release('0.6.5'), values: {}}, NOWHERE),
  ...clockSkewFindings(0, {time: '2027-01-01T00:00:00Z'}, NOW),
];
