import {readdirSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {runChecks} from '../../src/checks/preflight/checks/check.ts';
import type {PreflightContext} from '../../src/checks/preflight/facts/context.ts';
import {CHECKS} from '../../src/checks/preflight/run-preflight.ts';
import type {KubernetesObject} from '../../src/cluster/kubernetes/objects.ts';
import {known, unknown} from '../../src/ground/fact.ts';
import {clusterWith, live, preflightContext} from '../checks/preflight/context.ts';
import {shown} from '../checks/preflight/shown.ts';
import type {FakeCluster} from '../cluster/platform/fake-cluster.ts';

const SHOWN = ['checks', 'probe'].map((room) =>
  join(import.meta.dirname, '../checks/preflight', room, 'messages'),
);

/** What an operator reads when a check fails, for every check: of the tests of the checks, and of the states below. */
export async function checkExamples(): Promise<Record<string, string>> {
  const states = await Promise.all(Object.keys(STATES).map(exampleOf));
  return {...examplesOfTests(), ...Object.fromEntries(states)};
}

/** The tests of the checks keep what they show, each as `id, when` and the lines below it: the first error, or else the first warning. */
function examplesOfTests(): Record<string, string> {
  const files = SHOWN.flatMap((folder) => readdirSync(folder).map((file) => join(folder, file)));
  const shownCases = files.flatMap((file) =>
    readFileSync(file, 'utf8')
      .split(/\n(?=[a-z-]+, )/)
      .map((text) => {
        const [heading = '', ...lines] = text.trimEnd().split('\n');
        return {id: heading.replace(/,.*/, ''), lines: lines.join('\n')};
      }),
  );
  const marked = (mark: string) =>
    shownCases
      .filter(({lines}) => lines.startsWith(`  ${mark}`))
      .toReversed()
      .map(({id, lines}) => [id, lines.slice('  '.length)]);
  return {...Object.fromEntries(marked('!')), ...Object.fromEntries(marked('×'))};
}

interface State {
  but?: Partial<PreflightContext>;
  cluster?: FakeCluster;
}

const namespace = (metadata: object): FakeCluster =>
  clusterWith(
    [{apiVersion: 'v1', kind: 'Namespace', metadata: {name: 'scalr-agent', ...metadata}}],
    {without: ['scalr-agent']},
  );

const pod = (spec: object): KubernetesObject =>
  ({kind: 'Pod', metadata: {name: 'agent'}, spec}) as KubernetesObject;

const tools = (helm: string, kubectl: string): PreflightContext['tools'] => ({
  helm: known(helm, 'helm version'),
  kubectl: known(kubectl, 'kubectl version'),
});

const missing = (verb: string, resource: string, isOptional: boolean): State => ({
  but: {
    permissions: known(
      [{verb, resource, isOptional, namespace: 'scalr-agent', isAllowed: false}],
      'SelfSubjectAccessReview',
    ),
  },
});

/** In each, the check fails whose id it has. */
const STATES: Readonly<Record<string, State>> = {
  'helm-version': {but: {tools: tools('3.13.3', '1.35.1')}},
  'kubectl-version': {but: {tools: tools('4.1.4', '1.33.0')}},
  'cluster-reachable': {
    but: {
      live: live({
        user: {
          ...unknown('not-logged-in', 'Not logged in to the cluster'),
          steps: ['Log in to the cluster, then run the command again'],
        },
      }),
    },
  },
  'chart-renders': {
    but: {manifest: unknown('failed', 'helm template failed: chart "agent-local" not found')},
  },
  namespace: {cluster: namespace({deletionTimestamp: '2027-01-01T00:00:00Z'})},
  'pod-security': {
    cluster: namespace({labels: {'pod-security.kubernetes.io/enforce': 'baseline'}}),
    but: {
      manifest: known(
        [
          pod({
            volumes: [{name: 'data', hostPath: {path: '/var/lib/scalr-agent'}}],
            containers: [],
          }),
        ],
        'helm template',
      ),
    },
  },
  permissions: missing('create', 'deployments.apps', false),
  'permissions-optional': missing('list', 'events', true),
  secrets: {
    but: {secrets: new Map([['scalr-agent-token', known(undefined, 'scalr-agent-token')]])},
  },
  'service-accounts': {
    but: {accounts: new Map([['terraform', known(undefined, 'serviceaccounts')]])},
  },
  token: {but: {token: 'not-a-token'}},
  'pull-secrets': {
    but: {
      manifest: known([pod({imagePullSecrets: [{name: 'registry'}]})], 'helm template'),
      secrets: new Map([['registry', known(undefined, 'registry')]]),
    },
  },
};

async function exampleOf(id: string): Promise<readonly [string, string]> {
  const {but, cluster} = STATES[id] as State;
  const context = await preflightContext({chart: 'agent-local'}, cluster, but);
  const [report] = runChecks(
    CHECKS.filter((each) => each.id === id),
    context,
  );
  return [id, shown(report).trim()];
}
