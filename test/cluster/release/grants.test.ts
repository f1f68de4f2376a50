import {describe, expect, test} from 'vitest';
import {grantObjects, grantText} from '../../../src/cluster/release/grants.ts';
import {NAMESPACE_KINDS, WIDE_KINDS} from '../../../src/cluster/release/namespace.ts';
import {rolesToRead} from '../../../src/cluster/release/roles-to-read.ts';
import {rolesIn} from '../../support/commands-in.ts';
import {fakeKubernetes} from '../../support/fake-kubernetes.ts';

const GRANTEE = {purpose: 'agents:install:agent-job', namespace: 'team-a', user: 'jane'};
const namespaced = (verb: string, resource: string, more: object = {}) => ({
  verb,
  resource,
  namespace: 'team-a',
  ...more,
});

describe('the roles of a purpose', () => {
  test('have one rule per API group, verbs and name', () => {
    const [role] = grantObjects(
      [
        namespaced('get', 'deployments.apps'),
        namespaced('get', 'replicasets.apps'),
        namespaced('get', 'deployments/scale.apps'),
        namespaced('get', 'secrets'),
        namespaced('get', 'secrets', {name: 'token'}),
        namespaced('patch', 'secrets'),
      ],
      GRANTEE,
    );
    expect(role).toMatchObject({
      kind: 'Role',
      metadata: {name: 'scalr-agent:agents:install:agent-job', namespace: 'team-a'},
      rules: [
        {
          apiGroups: ['apps'],
          resources: ['deployments', 'replicasets', 'deployments/scale'],
          verbs: ['get'],
        },
        {apiGroups: [''], resources: ['secrets'], verbs: ['get', 'patch']},
        {apiGroups: [''], resources: ['secrets'], resourceNames: ['token'], verbs: ['get']},
      ],
    });
  });

  test('are cluster roles for cluster-scoped resources, with the namespace in their name', () => {
    const objects = grantObjects(
      [{verb: 'list', resource: 'nodes'}, namespaced('list', 'pods')],
      GRANTEE,
    );
    expect(objects.map(({kind, metadata: {name, namespace}}) => [kind, name, namespace])).toEqual([
      ['ClusterRole', 'scalr-agent:team-a:agents:install:agent-job', undefined],
      ['ClusterRoleBinding', 'scalr-agent:team-a:agents:install:agent-job:jane', undefined],
      ['Role', 'scalr-agent:agents:install:agent-job', 'team-a'],
      ['RoleBinding', 'scalr-agent:agents:install:agent-job:jane', 'team-a'],
    ]);
  });

  test('have a binding per account, whatever characters its name contains', () => {
    const named = (user: string) =>
      grantObjects([namespaced('get', 'pods')], {...GRANTEE, user})[1];
    const names = ['oidc/jane', 'oidc%jane', 'oidc~2fjane', 'oidc:jane'].map(
      (user) => named(user)?.metadata.name,
    );
    expect(new Set(names).size).toBe(4);
    expect(names.join()).not.toMatch(/[/%]/);
    expect(named('oidc/jane')).toMatchObject({subjects: [{kind: 'User', name: 'oidc/jane'}]});
    expect(named('system:serviceaccount:ci:deployer')).toMatchObject({
      subjects: [{kind: 'ServiceAccount', name: 'deployer', namespace: 'ci'}],
    });
  });
});

test('the text is one sentence, then the same objects as one YAML document, which may be indented', () => {
  const permissions = [namespaced('get', 'pods'), {verb: 'list', resource: 'nodes'}];
  const [sentence, ...yaml] = grantText(permissions, GRANTEE, {}).split('\n');
  expect(sentence).toBe(
    'Ask an administrator to save this list as roles.yaml, and to apply it: kubectl apply --filename roles.yaml',
  );
  expect(rolesIn(yaml.map((line) => `    ${line}`).join('\n'))).toEqual(
    grantObjects(permissions, GRANTEE),
  );
});

test.each([
  'system:anonymous',
  'system:unauthenticated',
])('no role is printed for %s, which is everyone without valid credentials', (user) => {
  const text = grantText([namespaced('get', 'secrets')], {...GRANTEE, user}, {kubeContext: 'prod'});
  expect(text).toBe(
    `Not logged in to the cluster: the API server treats you as ${user}. Log in to the cluster, then run the command again. Check your identity: kubectl auth whoami --context prod`,
  );
});

test('Secrets are a role of their own where roles without them exist as well', () => {
  const permissions = [namespaced('list', 'pods'), namespaced('list', 'secrets')];
  const grantee = {...GRANTEE, purpose: 'agents:read', hasOwnSecretsRole: true};
  const names = (some: typeof permissions) =>
    grantObjects(some, grantee).map(({metadata}) => metadata.name);
  expect(names(permissions)).toEqual([
    'scalr-agent:agents:read',
    'scalr-agent:agents:read:jane',
    'scalr-agent:agents:read-secrets',
    'scalr-agent:agents:read-secrets:jane',
  ]);
  expect(names(permissions.slice(0, 1))).toEqual(names(permissions).slice(0, 2));
});

test('the text says why all Secrets of a namespace are in a role, or that there are none', () => {
  const [all] = grantText([namespaced('list', 'secrets')], GRANTEE, {}).split('\n');
  expect(all).toMatch(/^Helm stores every revision in a Secret with a new name, so the roles/);
  const [named] = grantText([namespaced('get', 'secrets', {name: 'token'})], GRANTEE, {}).split(
    '\n',
  );
  expect(named).toMatch(/^Ask an administrator/);
  const note = 'These roles grant no Secrets.';
  const [none] = grantText([namespaced('list', 'pods')], {...GRANTEE, note}, {}).split('\n');
  expect(none).toMatch(/^These roles grant no Secrets\. Ask an administrator/);
});

test('the text says how to find out an unknown account', () => {
  const text = grantText(
    [namespaced('get', 'pods')],
    {...GRANTEE, user: undefined},
    {kubeContext: 'prod'},
  );
  expect(text).toContain('with the output of "kubectl auth whoami --context prod" instead of USER');
  expect(text).toContain('name: USER');
});

test('the roles to read a release include all that an uninstall looks for', async () => {
  const text = await rolesToRead(
    {release: 'agent', kubeTarget: {namespace: 'scalr'}},
    {message: 'User "jane" cannot list', scope: 'everything'},
    fakeKubernetes(),
  );
  for (const kind of [...NAMESPACE_KINDS, ...WIDE_KINDS])
    expect(text).toContain(kind.split('.')[0]);
});

test('the text says that roles need their namespace, if the account may not see it', () => {
  const sentence = `If namespace ${GRANTEE.namespace} does not exist, it must be created before the roles.`;
  const textOf = (resource: string) => grantText([namespaced('get', resource)], GRANTEE, {});
  expect(textOf('namespaces')).toContain(sentence);
  expect(textOf('pods')).not.toContain(sentence);
});
