import {expect, test} from 'vitest';
import {findHelm} from '../cluster/helm/find-helm.ts';
import {faultyApi} from '../control-plane/faulty-api.ts';
import {setLogs} from '../control-plane/logs.ts';
import {pod} from '../control-plane/objects.ts';
import {workplace} from '../control-plane/workplace.ts';
import {collected} from '../support/collected.ts';

const [{path: helm} = {path: 'helm'}] = await findHelm();
const NAMES = ['a', 'b', 'c', 'd', 'e'];

/** The key of pseudonyms is new for every bundle, so that they mean nothing beyond it. */
const withoutKeys = (text: string): string =>
  text.replace(/(\[redacted:[\w-]+):[0-9a-f]{8}\]/g, '$1]');
const orderOf = (names: readonly string[]) =>
  names.toSorted((one, other) => (one < other ? -1 : 1));

test('two bundles of what has not changed are alike to every entry, whoever answers first', async () => {
  const place = await workplace();
  const {kubectl, kubeconfig, namespace} = place;
  const labels = {'app.kubernetes.io/name': 'agent-local', 'app.kubernetes.io/instance': 'by-hand'};
  await kubectl.apply(...NAMES.map((name) => ({...pod(name), metadata: {name, labels}})));
  for (const name of NAMES)
    await setLogs(
      kubeconfig,
      {namespace, pod: name},
      {'*': {current: [`password = "hunter2-${name}-hunter2"`, `${name} is ready`]}},
    );
  await kubectl('wait', 'pod', '--all', '--for=condition=Ready', '--timeout=20s');
  await expect.poll(() => kubectl('logs', 'e').catch(String)).toContain('e is ready');
  // Heartbeats of the nodes go on, and nothing else moves any more.
  const api = await faultyApi(kubeconfig);
  api.inject('GET', /\/pods\/[bd]\/log\?/, {status: 403});
  const now = new Date();
  const bundleThatWaitsFor = async (name: string) => {
    const late = api.inject('GET', new RegExp(`/pods/${name}/log\\?`), {delayMs: 1500});
    const bundle = await collected({...place, kubeconfig: api.kubeconfig}, helm, [], {
      now: () => now,
    });
    late.end();
    return bundle;
  };
  const one = await bundleThatWaitsFor('a');
  const other = await bundleThatWaitsFor('e');
  expect(one.errors.map(({what}) => what)).toEqual(['logs/b/agent.log', 'logs/d/agent.log']);
  expect(one.names).toEqual(orderOf(one.names));
  expect(other.names).toEqual(one.names);
  const stays = (name: string): boolean => !/^objects\/node\/|^manifest\.json$/.test(name);
  for (const name of one.names.filter(stays))
    expect(withoutKeys(other.text(name)), name).toBe(withoutKeys(one.text(name)));
  expect(one.text('logs/a/agent.log')).toContain('[redacted:');

  interface Manifest {
    entries: {name: string; sha256: string}[];
  }
  const sums = ({text, names}: typeof one): string[] => {
    const {entries} = JSON.parse(text('manifest.json')) as Manifest;
    expect(entries.map(({name}) => name)).toEqual(names.filter((name) => name !== 'manifest.json'));
    return entries
      .filter(({name}) => stays(name) && !text(name).includes('[redacted:'))
      .map(({name, sha256}) => `${name} ${sha256}`);
  };
  expect(sums(one).length).toBeGreaterThan(10);
  expect(sums(other)).toEqual(sums(one));
});
