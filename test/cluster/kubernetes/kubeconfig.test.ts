import {expect, test} from 'vitest';
import {
  accessIn,
  type Kubeconfig,
  kubeconfigFiles,
} from '../../../src/cluster/kubernetes/kubeconfig.ts';

const CONFIG: Kubeconfig = {
  'current-context': 'work',
  clusters: [
    {name: 'c', cluster: {server: 'https://10.0.0.1'}},
    {name: 'empty', cluster: {}},
  ],
  contexts: [
    {name: 'work', context: {cluster: 'c', user: 'u'}},
    {name: 'dangling', context: {cluster: 'gone', user: 'u'}},
    {name: 'addressless', context: {cluster: 'empty', user: 'u'}},
    {name: 'clusterless', context: {user: 'u'}},
    {name: 'ghost', context: {cluster: 'c', user: 'gone'}},
    {name: 'userless', context: {cluster: 'c'}},
    {name: 'bare', context: {cluster: 'c', user: 'none'}},
  ],
  users: [
    {name: 'u', user: {exec: {command: 'corp-login'}}},
    {name: 'none', user: {}},
  ],
};

test('finds the server and the credential plugin of the selected context', () => {
  expect(accessIn(CONFIG, {}, 'work.yaml')).toEqual({
    file: 'work.yaml',
    user: 'u',
    server: 'https://10.0.0.1',
    plugin: {command: 'corp-login'},
  });
});

test.each([
  ['dangling', 'has no cluster gone, which context dangling refers to'],
  ['addressless', 'has no server address for cluster empty of context addressless'],
  ['clusterless', 'sets no cluster for context clusterless'],
  ['missing', 'has no context missing'],
])('names what kubectl needs for context %s', (kubeContext, text) => {
  const {withoutCluster} = accessIn(CONFIG, {kubeContext}, 'work.yaml');
  expect(withoutCluster?.text).toBe(`The kubeconfig work.yaml ${text}`);
  expect(withoutCluster?.steps.at(-1)).toMatch(/--kube-context NAME: work, /);
});

test.each([
  ['ghost', 'has no user gone, which context ghost refers to'],
  ['userless', 'sets no user for context userless'],
  ['bare', 'has no credentials for user none of context bare'],
])('names the credentials that context %s lacks', (kubeContext, text) => {
  const {withoutCluster, withoutCredentials} = accessIn(CONFIG, {kubeContext}, 'work.yaml');
  expect(withoutCluster).toBeUndefined();
  expect(withoutCredentials?.text).toBe(`The kubeconfig work.yaml ${text}`);
  expect(withoutCredentials?.steps.at(-1)).toMatch(/--kube-context NAME: work, dangling/);
});

test('lists the contexts of a file that selects none', () => {
  const contexts = CONFIG.contexts?.slice(0, 1) ?? [];
  expect(accessIn({...CONFIG, contexts, 'current-context': ''}, {}, 'a').withoutCluster).toEqual({
    text: 'The kubeconfig a has no current context',
    steps: ['Select its context with --kube-context work'],
  });
  expect(accessIn({}, {}, 'a').withoutCluster?.text).toBe(
    'The kubeconfig a does not exist or contains no context',
  );
});

test('names files as the user gave them', () => {
  expect(kubeconfigFiles({kubeconfig: 'work.yaml'}, {KUBECONFIG: '/x'})).toBe('work.yaml');
  expect(kubeconfigFiles({}, {KUBECONFIG: 'package.json:/nowhere:README.md'})).toBe(
    'package.json, README.md',
  );
  expect(kubeconfigFiles({}, {})).toBe('~/.kube/config');
});
