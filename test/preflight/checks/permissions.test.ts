import {describe, expect, test} from 'vitest';
import {known, unknown} from '../../../src/cluster/facts/fact.ts';
import type {KubernetesObject} from '../../../src/cluster/objects.ts';
import {neededPermissions, permissionChecks} from '../../../src/preflight/checks/permissions.ts';
import {permissionsOf} from '../../../src/preflight/permissions-of.ts';
import type {NeededPermission, Permission} from '../../../src/preflight/preflight-context.ts';
import {preflightContext, saidBy} from '../context.ts';

const permission = (verb: string, resource: string, isAllowed: boolean, more: Partial<Permission> = {}): Permission => ({
  ...{verb, resource, isAllowed, namespace: 'scalr-agent', isOptional: false},
  ...more,
});
const said = async (id: string, permissions: readonly Permission[] | undefined) =>
  saidBy(
    permissionChecks,
    id,
    await preflightContext(
      {chart: 'agent-local'},
      undefined,
      permissions ? {permissions: known(permissions, 'reviews')} : {permissions: unknown('forbidden', 'may not ask')},
    ),
  );

describe('the check', () => {
  test('passes when everything is allowed', async () => {
    expect(await said('permissions', [permission('create', 'secrets', true)])).toBe('pass: all 1 are there');
  });

  test('says exactly what is missing, with roles that give it', async () => {
    const {namespace: _, ...everywhere} = permission('create', 'customresourcedefinitions.apiextensions.k8s.io', false);
    const text = await said('permissions', [
      permission('get', 'secrets', true),
      permission('create', 'deployments.apps', false),
      permission('patch', 'deployments.apps', false),
      permission('get', 'pods/log', false),
      everywhere,
    ]);
    expect(text).toContain('fail: missing 4 of 5: create, patch deployments.apps in scalr-agent; get pods/log in scalr-agent;');
    expect(text).toContain('create customresourcedefinitions.apiextensions.k8s.io in the whole cluster');
    expect(text).toContain('kind: "Role"');
    expect(text).toMatch(/- "apps"\s+resources:\s+- "deployments"\s+verbs:\s+- "create"\s+- "patch"/);
    expect(text).toContain('- "pods/log"');
    expect(text).toContain('kind: "ClusterRole"');
    expect(text).toContain('kubectl create clusterrolebinding');
  });

  test('only warns of what is merely useful', async () => {
    const events = permission('list', 'events', false, {isOptional: true});
    expect(await said('permissions', [events])).toMatch(/^pass/);
    expect(await said('permissions-optional', [events])).toMatch(/^warn: missing 1 of 1: list events in scalr-agent/);
  });

  test('offers roles that do not replace each other', async () => {
    const both = [permission('create', 'secrets', false), permission('list', 'events', false, {isOptional: true})];
    expect(await said('permissions', both)).toMatch(/--role=scalr-agent-install .*\n[\s\S]*name: "scalr-agent-install"\n/);
    expect(await said('permissions-optional', both)).toMatch(
      /--role=scalr-agent-install-optional .*\n[\s\S]*name: "scalr-agent-install-optional"\n/,
    );
  });

  test('is skipped where nobody may ask', async () => {
    expect(await said('permissions', undefined)).toMatch(/^skip: may not ask/);
    expect(await said('permissions-optional', undefined)).toMatch(/^skip: /);
  });
});

const needs = (objects: readonly object[]): NeededPermission[] =>
  neededPermissions({namespace: 'team', objects: objects as KubernetesObject[], resources: []});
const spelled = (objects: readonly object[]): string[] =>
  needs(objects).map(({verb, resource, namespace}) => `${verb} ${resource}${namespace === undefined ? ' everywhere' : ''}`);
const DEFINITION = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: {name: 'things.scalr.io'},
  spec: {group: 'scalr.io', scope: 'Namespaced', names: {kind: 'Thing', plural: 'things'}},
};

describe('what is needed', () => {
  test('follows the objects of the chart, its own kinds too', () => {
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

  test('is not optional when something else cannot do without it', () => {
    const found = needs([{apiVersion: 'v1', kind: 'Secret', metadata: {name: 'a'}}]);
    expect(found.filter(({verb, resource}) => verb === 'delete' && resource === 'secrets')).toMatchObject([{isOptional: false}]);
  });

  test('is what a binding gives away, or the right to bind', () => {
    const role = {kind: 'ClusterRole', metadata: {name: 'a'}, rules: [{apiGroups: [''], resources: ['pods'], verbs: ['watch']}]};
    const binding = {kind: 'RoleBinding', metadata: {name: 'a'}, roleRef: {kind: 'ClusterRole', name: 'a'}};
    expect(needs([role, binding])).toContainEqual({
      ...{verb: 'watch', resource: 'pods', namespace: 'team', isOptional: false},
      orElse: {verb: 'bind', resource: 'clusterroles.rbac.authorization.k8s.io', namespace: 'team'},
    });
  });

  test('is what a Role gives away, or the right to escalate', () => {
    const rules = [{apiGroups: ['', 'batch'], resources: ['jobs'], verbs: ['watch']}];
    const found = needs([{apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role', metadata: {name: 'a'}, rules}]);
    expect(found).toContainEqual({
      ...{verb: 'watch', resource: 'jobs.batch', namespace: 'team', isOptional: false},
      orElse: {verb: 'escalate', resource: 'roles.rbac.authorization.k8s.io', namespace: 'team'},
    });
  });
});

describe('asking', () => {
  const place = {namespace: 'team'};
  const need = (verb: string, more: Partial<NeededPermission> = {}): NeededPermission => ({
    verb,
    resource: 'pods/log',
    namespace: 'team',
    isOptional: false,
    ...more,
  });
  const answering = (isAllowed: (attributes: Record<string, string>) => boolean) => {
    const calls: number[] = [];
    return {
      calls,
      run: async ({input}: {input?: unknown}) => {
        const {items} = JSON.parse(String(input));
        calls.push(items.length);
        const answers = items.map((each: {spec: {resourceAttributes: Record<string, string>}}) => ({
          ...each,
          status: {allowed: isAllowed(each.spec.resourceAttributes)},
        }));
        const stdout = answers.map((each: unknown) => `${JSON.stringify(each, null, 4)}\n`).join('');
        return {exitCode: 0, stdout, stderr: ''};
      },
    };
  };

  test('takes one call for many', async () => {
    const many = Array.from({length: 60}, (_, index) => need(`verb${index}`));
    const asked = answering(({verb}) => verb === 'verb7');
    const fact = await permissionsOf(many, place, asked);
    expect(asked.calls).toEqual([40, 20]);
    expect('value' in fact && fact.value.filter(({isAllowed}) => isAllowed).map(({verb}) => verb)).toEqual(['verb7']);
  });

  test('names group and subresource as the API server does', async () => {
    const seen: unknown[] = [];
    await permissionsOf(
      [need('get'), need('list', {resource: 'deployments/scale.apps'})],
      place,
      answering((each) => seen.push(each) > 0),
    );
    expect(seen).toEqual([
      {verb: 'get', resource: 'pods', subresource: 'log', namespace: 'team'},
      {verb: 'list', group: 'apps', resource: 'deployments', subresource: 'scale', namespace: 'team'},
    ]);
  });

  test('either of two permissions is enough', async () => {
    const fact = await permissionsOf(
      [need('get', {orElse: {verb: 'escalate', resource: 'roles.x'}})],
      place,
      answering(({verb}) => verb === 'escalate'),
    );
    expect(fact).toMatchObject({value: [{verb: 'get', isAllowed: true}]});
  });

  test('an answer that is missing is no permission and no refusal', async () => {
    const silent = {run: async () => ({exitCode: 0, stdout: '', stderr: ''})};
    expect(await permissionsOf([need('get')], place, silent)).toMatchObject({unknown: 'failed'});
    const refused = {run: async () => ({exitCode: 1, stdout: '', stderr: 'Error from server (Forbidden): no reviews for you'})};
    expect(await permissionsOf([need('get')], place, refused)).toMatchObject({unknown: 'forbidden'});
  });
});
