import {expect, test} from 'vitest';
import {applyObjects} from '../../src/cluster/kubernetes/changes.ts';
import type {InstallFacts} from '../../src/cluster/release/read-release.ts';
import {Secret} from '../../src/ground/secret.ts';
import {installRelease} from '../../src/operations/install-release.ts';
import type {ReleaseStep} from '../../src/operations/step.ts';
import {fakeKubernetes} from '../support/fake-kubernetes.ts';
import {helmRecord} from '../support/helm-record.ts';

const NAME = {release: 'acme', kubeTarget: {namespace: 'team'}};
const STEP: ReleaseStep = {
  id: 'release',
  phase: 'release',
  title: 'Upgrade',
  call: {tool: 'helm', verb: 'upgrade'},
};
const never = new AbortController().signal;

/** Helm ends like this, and leaves a record with this status; somebody else can uninstall the release meanwhile. */
async function failureOf(
  stderr: string,
  status: string,
  {isLost = false}: {isLost?: boolean} = {},
) {
  const outcome = {exitCode: stderr === '' ? 0 : 1, stdout: '', stderr};
  const objects = [
    helmRecord({name: 'acme', namespace: 'team', chart: 'agent-local-0.6.4', status}),
  ];
  const deps = {
    kubernetes: fakeKubernetes({objects}),
    processes: {
      run: async () => outcome,
      start: () => {
        if (isLost) objects.length = 0;
        return {
          outcome: Promise.resolve(outcome),
          interrupt: () => undefined,
          leave: () => undefined,
        };
      },
    },
    helmDriver: undefined,
    interrupts: {interrupt: never, forceQuit: never, release: () => undefined},
    now: () => new Date(0),
    sleep: async () => undefined,
    timeoutMs: 1000,
    onStep: () => undefined,
    onProgress: () => undefined,
    files: {} as never,
  };
  const facts = {release: isLost ? {status} : undefined, newestRevision: 1} as InstallFacts;
  return installRelease({plan: {steps: [STEP]}, name: NAME, facts}, {waits: true}, deps).then(
    () => undefined,
    (error: unknown) => error,
  );
}

test('suggests --take-over when helm has ended and its record is pending', async () => {
  const failure = await failureOf(
    'Error: UPGRADE FAILED: create: failed to create: unexpected EOF',
    'pending-upgrade',
  );
  expect(failure).toMatchObject({
    code: 'CLUSTER_UNREACHABLE',
    message: expect.stringMatching(
      /unexpected EOF\. Helm has ended, but its record of the release is still pending-upgrade\.$/,
    ),
    suggestions: [
      'Run the same command again with --take-over',
      expect.stringContaining('/readyz'),
    ],
  });
});

test.each([
  [
    'the record is not pending',
    'Error: UPGRADE FAILED: create: failed to create: unexpected EOF',
    'deployed',
  ],
  [
    'another helm is running',
    'Error: UPGRADE FAILED: another operation (install/upgrade/rollback) is in progress',
    'pending-upgrade',
  ],
])('suggests no --take-over when %s', async (_, stderr, status) => {
  expect(JSON.stringify(await failureOf(stderr, status))).not.toContain('--take-over');
});

test.each([
  [
    'helm fails',
    'Error: UPGRADE FAILED: "acme" has no deployed releases',
    'helm upgrade failed: UPGRADE FAILED: "acme" has no deployed releases. ',
  ],
  ['the agent starts', '', ''],
])('says that the release was uninstalled while %s', async (_, stderr, before) => {
  expect(await failureOf(stderr, 'deployed', {isLost: true})).toMatchObject({
    message: `${before}Release acme was uninstalled after the plan was made.`,
    suggestions: [
      'Ask who uninstalled it. To install it again, run: scalr-agent install --release acme --namespace team',
    ],
  });
});

test('fails if a Secret was changed back meanwhile', async () => {
  const {kubeTarget} = NAME;
  const secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {name: 'acme-token', namespace: 'team'},
  };
  const written = {...secret, stringData: {token: 'new'}};
  const call = applyObjects(kubeTarget, [written]);
  const stores = {name: 'acme-token', data: {token: new Secret('new')}};
  const steps: ReleaseStep[] = [
    {id: 'secret', phase: 'secrets', title: 'Update Secret', call, stores},
  ];
  const outcome = Promise.resolve({exitCode: 0, stdout: '', stderr: ''});
  const record = helmRecord({
    name: 'acme',
    namespace: 'team',
    chart: 'agent-local-0.6.4',
    status: 'deployed',
  });
  const deps = {
    kubernetes: fakeKubernetes({
      objects: [record, {...secret, data: {token: Buffer.from('old').toString('base64')}}],
    }),
    processes: {
      run: () => outcome,
      start: () => ({outcome, interrupt: () => undefined, leave: () => undefined}),
    },
    helmDriver: undefined,
    interrupts: {interrupt: never, forceQuit: never, release: () => undefined},
    now: () => new Date(0),
    sleep: async () => undefined,
    timeoutMs: 1000,
    onStep: () => undefined,
    onProgress: () => undefined,
    files: {} as never,
  };
  const facts = {release: {status: 'deployed'}, newestRevision: 1} as InstallFacts;
  await expect(
    installRelease({plan: {steps}, name: NAME, facts}, {waits: false}, deps),
  ).rejects.toMatchObject({
    code: 'OBJECT_NOT_OWNED',
  });
});
