import {describe, expect, test} from 'vitest';
import {
  neededPermissions,
  permissionChecks,
} from '../../../../src/checks/preflight/checks/permissions.ts';
import type {
  NeededPermission,
  ReviewedPermission,
} from '../../../../src/checks/preflight/facts/context.ts';
import type {KubernetesObject} from '../../../../src/cluster/kubernetes/objects.ts';
import {reviewPermissions} from '../../../../src/cluster/kubernetes/permissions.ts';
import {known, unknown} from '../../../../src/ground/fact.ts';
import {failingKubernetes, fakeKubernetes} from '../../../support/fake-kubernetes.ts';
import {preflightContext, saidBy} from '../context.ts';

const permission = (
  verb: string,
  resource: string,
  isAllowed: boolean,
  more: Partial<ReviewedPermission> = {},
): ReviewedPermission => ({
  verb,
  resource,
  isAllowed,
  namespace: 'scalr-agent',
  isOptional: false,
  ...more,
});
const said = async (id: string, permissions: readonly ReviewedPermission[] | undefined) =>
  saidBy(
    permissionChecks,
    id,
    await preflightContext(
      {chart: 'agent-local'},
      undefined,
      permissions
        ? {permissions: known(permissions, 'reviews')}
        : {permissions: unknown('forbidden', 'may not ask')},
    ),
  );

describe('the check', () => {
  test('passes when everything is allowed', async () => {
    expect(await said('permissions', [permission('create', 'secrets', true)])).toBe(
      'pass: 1 permission granted',
    );
  });

  test('lists missing permissions with the roles that grant them', async () => {
    const {namespace: _, ...everywhere} = permission(
      'create',
      'customresourcedefinitions.apiextensions.k8s.io',
      false,
    );
    const text = await said('permissions', [
      permission('get', 'secrets', true),
      permission('create', 'deployments.apps', false),
      permission('patch', 'deployments.apps', false),
      permission('get', 'pods/log', false),
      everywhere,
    ]);
    expect(text).toContain(
      'fail: 4 of 5 permissions missing: create, patch deployments.apps in scalr-agent; get pods/log in scalr-agent;',
    );
    expect(text).toContain('create customresourcedefinitions.apiextensions.k8s.io cluster-wide');
    expect(text).toContain('kind: Role\n');
    expect(text).toMatch(/\[apps\]\s+resources: \[deployments\]\s+verbs: \[create, patch\]/);
    // What was granted already may come from a role of the same name.
    expect(text).toContain('[secrets, pods/log]');
    expect(text).toContain('kind: ClusterRole\n');
    expect(text).toContain('name: scalr-agent:scalr-agent:scalr-agent:install:agent-local\n');
  });

  test('warns when an optional permission is missing', async () => {
    const events = permission('list', 'events', false, {isOptional: true});
    expect(await said('permissions', [events])).toMatch(/^pass/);
    expect(await said('permissions-optional', [events])).toMatch(
      /^warn: 1 of 1 permission missing: list events in scalr-agent/,
    );
  });

  test('offers roles that do not replace each other', async () => {
    const both = [
      permission('create', 'secrets', false),
      permission('list', 'events', false, {isOptional: true}),
    ];
    expect(await said('permissions', both)).toContain(
      'name: scalr-agent:scalr-agent:install:agent-local\n',
    );
    expect(await said('permissions-optional', both)).toContain(
      'name: scalr-agent:scalr-agent:maintain:agent-local\n',
    );
  });

  test('is skipped when access reviews are forbidden', async () => {
    expect(await said('permissions', undefined)).toMatch(/^skip: may not ask/);
    expect(await said('permissions-optional', undefined)).toMatch(/^skip: /);
  });
});

const needs = (objects: readonly object[]): NeededPermission[] =>
  neededPermissions('team', objects as KubernetesObject[], []);
const spelled = (objects: readonly object[]): string[] =>
  needs(objects).map(
    ({verb, resource, namespace}) =>
      `${verb} ${resource}${namespace === undefined ? ' everywhere' : ''}`,
  );
const DEFINITION = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: {name: 'things.scalr.io'},
  spec: {group: 'scalr.io', scope: 'Namespaced', names: {kind: 'Thing', plural: 'things'}},
};

describe('the needed permissions', () => {
  test('follow from the objects of the chart, custom resources included', () => {
    const found = spelled([
      DEFINITION,
      {apiVersion: 'scalr.io/v1', kind: 'Thing', metadata: {name: 'a'}},
      {apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy', metadata: {name: 'a'}},
      {apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: {name: 'a'}},
    ]);
    for (const each of [
      'create things.scalr.io',
      'patch networkpolicies.networking.k8s.io',
      'create clusterroles.rbac.authorization.k8s.io everywhere',
      'create customresourcedefinitions.apiextensions.k8s.io everywhere',
    ])
      expect(found).toContain(each);
  });

  test('are required when one use requires them', () => {
    const found = needs([{apiVersion: 'v1', kind: 'Secret', metadata: {name: 'a'}}]);
    expect(
      found.filter(({verb, resource}) => verb === 'delete' && resource === 'secrets'),
    ).toMatchObject([{isOptional: false}]);
  });

  test('contain what a binding grants, or the verb bind', () => {
    const role = {
      kind: 'ClusterRole',
      metadata: {name: 'a'},
      rules: [{apiGroups: [''], resources: ['pods'], verbs: ['watch']}],
    };
    const binding = {
      kind: 'RoleBinding',
      metadata: {name: 'a'},
      roleRef: {kind: 'ClusterRole', name: 'a'},
    };
    expect(needs([role, binding])).toContainEqual({
      verb: 'watch',
      resource: 'pods',
      namespace: 'team',
      isOptional: false,
      orElse: {verb: 'bind', resource: 'clusterroles.rbac.authorization.k8s.io', namespace: 'team'},
    });
  });

  test('contain what a Role grants, or the verb escalate', () => {
    const rules = [{apiGroups: ['', 'batch'], resources: ['jobs'], verbs: ['watch']}];
    const found = needs([
      {apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role', metadata: {name: 'a'}, rules},
    ]);
    expect(found).toContainEqual({
      verb: 'watch',
      resource: 'jobs.batch',
      namespace: 'team',
      isOptional: false,
      orElse: {verb: 'escalate', resource: 'roles.rbac.authorization.k8s.io', namespace: 'team'},
    });
  });
});

describe('access reviews', () => {
  const {signal} = new AbortController();
  const need = (verb: string, more: Partial<NeededPermission> = {}): NeededPermission => ({
    verb,
    resource: 'pods/log',
    namespace: 'team',
    isOptional: false,
    ...more,
  });

  test('are sent once per permission, concurrently', async () => {
    const many = Array.from({length: 60}, (_, index) => need(`verb${index % 40}`));
    const kubernetes = fakeKubernetes({allows: ({verb}) => verb === 'verb7'});
    const fact = await reviewPermissions(many, kubernetes, signal);
    expect(kubernetes.requests).toHaveLength(40);
    expect(
      'value' in fact && fact.value.filter(({isAllowed}) => isAllowed).map(({verb}) => verb),
    ).toEqual(['verb7', 'verb7']);
  });

  test('contain group and subresource', async () => {
    const seen: unknown[] = [];
    const allows = (each: unknown): boolean => seen.push(each) > 0;
    await reviewPermissions(
      [need('get'), need('list', {resource: 'deployments/scale.apps'})],
      fakeKubernetes({allows}),
      signal,
    );
    expect(seen).toEqual([
      {verb: 'get', resource: 'pods', subresource: 'log', namespace: 'team'},
      {
        verb: 'list',
        group: 'apps',
        resource: 'deployments',
        subresource: 'scale',
        namespace: 'team',
      },
    ]);
  });

  test('accept either of two permissions', async () => {
    const kubernetes = fakeKubernetes({allows: ({verb}) => verb === 'escalate'});
    const fact = await reviewPermissions(
      [need('get', {orElse: {verb: 'escalate', resource: 'roles.x'}})],
      kubernetes,
      signal,
    );
    expect(fact).toMatchObject({value: [{verb: 'get', isAllowed: true}]});
  });

  test('count a missing answer as unknown', async () => {
    const silent = {post: async () => ({status: 201, body: {}})};
    expect(await reviewPermissions([need('get')], silent, signal)).toMatchObject({
      unknown: 'failed',
    });
    const refused = failingKubernetes({
      kind: 'forbidden',
      message: 'no reviews for you',
      status: 403,
    });
    expect(await reviewPermissions([need('get')], refused, signal)).toMatchObject({
      unknown: 'forbidden',
    });
  });
});
