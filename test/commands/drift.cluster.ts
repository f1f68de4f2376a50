import {execa} from 'execa';
import {describe, expect, test} from 'vitest';
import type {ChartName} from '../../src/charts/schema.ts';
import {objectsIn} from '../../src/cluster/manifest.ts';
import type {Finding} from '../../src/support-bundle/findings/evidence.ts';
import type {Workplace} from '../cluster/workplace.ts';
import {findHelm} from '../helm/find-helm.ts';
import {collected} from '../support/collected.ts';
import {chartFlags, installPlace, TOKEN} from '../support/install-place.ts';
import {install, status} from '../support/run-on-cluster.ts';

const CHARTS: readonly ChartName[] = ['agent-local', 'agent-k8s', 'agent-job'];
/** What somebody may change by hand, by kind. */
const CHANGES: Readonly<Record<string, object>> = {
  AgentTaskTemplate: {spec: {jobTemplate: {spec: {template: {metadata: {labels: {'app.kubernetes.io/component': 'changed'}}}}}}},
  ClusterRole: {rules: []},
  ClusterRoleBinding: {subjects: []},
  DaemonSet: {spec: {template: {spec: {terminationGracePeriodSeconds: 7}}}},
  Deployment: {spec: {template: {spec: {terminationGracePeriodSeconds: 7}}}},
  NetworkPolicy: {spec: {egress: []}},
  Role: {rules: []},
  RoleBinding: {subjects: []},
};
/** They can be deleted, but not brought back while the pods that use them wait for their end. */
const SLOW = ['PersistentVolumeClaim', 'PersistentVolume'];

const manifestOf = async ({namespace, kubeconfig}: Workplace, helm: string) => {
  const {stdout} = await execa(helm, ['get', 'manifest', 'scalr-agent', '--namespace', namespace, '--kubeconfig', kubeconfig]);
  return objectsIn(stdout).filter(({kind = ''}) => !SLOW.includes(kind));
};

const statusOf = async (place: Workplace, helm: string) => {
  const {stdout, exit} = await status(place, helm, ['--exit-code', '--json']);
  return {exit, objects: JSON.parse(stdout).objects};
};

describe.each(await findHelm())('with Helm $major', ({path: helm}) => {
  test.each(CHARTS)('%s: every object that is changed or deleted is seen, and restored', async (chart) => {
    const place = await installPlace();
    const {kubectl} = place;
    const ownDirectory = chart === 'agent-k8s' ? ['--data-home', `/var/lib/${place.namespace}`] : [];
    const argv = [...(await chartFlags(chart)), ...ownDirectory, '--yes', '--json'];
    const first = await install(place, helm, argv, {env: TOKEN});
    expect(first.exit, first.stderr).toBe(0);
    const objects = await manifestOf(place, helm);
    const names = objects.map(({kind, metadata}) => `${kind} ${metadata.name}`).toSorted();
    expect(await statusOf(place, helm)).toEqual({exit: 0, objects: {differs: false, differences: []}});

    const changeable = objects.filter(({kind = ''}) => CHANGES[kind] !== undefined);
    expect(changeable.length).toBeGreaterThan(0);
    for (const {kind = '', metadata} of changeable)
      await kubectl('patch', kind, metadata.name, '--type=merge', `--patch=${JSON.stringify(CHANGES[kind])}`);
    const changed = await statusOf(place, helm);
    expect(changed.objects.differences.map(({object}: {object: string}) => object).toSorted()).toEqual(
      changeable.map(({kind, metadata}) => `${kind} ${metadata.name}`).toSorted(),
    );
    const restored = await install(place, helm, argv, {env: TOKEN});
    expect(restored.exit, restored.stdout + restored.stderr).toBe(0);
    expect(JSON.parse(restored.stdout).changed).toBe(true);
    expect(await statusOf(place, helm)).toEqual({exit: 0, objects: {differs: false, differences: []}});

    for (const {kind = '', metadata} of objects) await kubectl('delete', kind, metadata.name, '--wait=false');
    const {stdout} = await status(place, helm, ['--json']);
    const missing = JSON.parse(stdout).objects.differences;
    expect(missing.map(({object, problem}: {object: string; problem: string}) => `${problem} ${object}`).toSorted()).toEqual(
      names.map((name) => `missing ${name}`),
    );
    const {result} = await collected(place, helm);
    const found = result.findings.filter(({code}: Finding) => code === 'CHANGED_IN_CLUSTER').map(({object}: Finding) => object);
    expect(found.toSorted()).toEqual(names.map((name) => name.replace(/^\w+/, (kind) => kind.toLowerCase()).replace(' ', '/')).toSorted());
    const again = await install(place, helm, argv, {env: TOKEN});
    expect(again.exit, again.stdout + again.stderr).toBe(0);
    expect(await statusOf(place, helm)).toEqual({exit: 0, objects: {differs: false, differences: []}});
  });

  test('another image and a field that no chart sets are seen, and taken back', async () => {
    const place = await installPlace();
    const {kubectl} = place;
    const argv = [...(await chartFlags('agent-local')), '--yes', '--json'];
    expect((await install(place, helm, argv, {env: TOKEN})).exit).toBe(0);
    const deployment = 'deployment/scalr-agent-agent-local';
    await kubectl('set', 'image', deployment, '*=scalr/agent:0.0.1');
    await kubectl('patch', deployment, '--patch={"spec":{"template":{"spec":{"hostNetwork":true}}}}');
    await kubectl('rollout', 'status', deployment);
    const {exit, stdout} = await status(place, helm, ['--exit-code']);
    expect(exit).toBe(5);
    expect(stdout).toContain('is ready, but 1 object differs from what was installed');
    const text = stdout.replaceAll(/\s+/g, ' ');
    expect(text).toContain('! Deployment scalr-agent-agent-local has changed: spec.template.spec.containers[agent-local].image');
    expect(text).toContain('has additions, which install leaves alone: spec.template.spec.hostNetwork');
    expect(stdout).toMatch(/Images +scalr\/agent:0\.0\.1/);
    const restored = await install(place, helm, argv, {env: TOKEN});
    expect(restored.exit, restored.stdout + restored.stderr).toBe(0);
    expect(await kubectl('get', deployment, '--output=jsonpath={.spec.template.spec.containers[0].image}')).not.toBe('scalr/agent:0.0.1');
  });
});
