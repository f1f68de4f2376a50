import {expect, test} from 'vitest';
import {parse} from 'yaml';
import type {Endpoint} from '../../src/charts/endpoints.ts';
import Images from '../../src/commands/images.ts';
import Network from '../../src/commands/network.ts';
import {runCommand} from '../support/run-command.ts';
import {fileOf, linesOf, recipe} from './recipe.ts';

const page = recipe('docs/guide/recipes.md');

const argumentsOf = (heading: string): string[] =>
  (linesOf(page, heading)[0] ?? '').trim().split(' ').slice(2);

/** What the command of the page lists for pods. */
async function endpointsOfPods(): Promise<Endpoint[]> {
  const {stdout} = await runCommand(Network, [...argumentsOf(''), '--json']);
  const {hosts} = JSON.parse(stdout) as {hosts: Endpoint[]};
  return hosts.filter(({from}) => from === 'agent' || from === 'runs');
}

const sorted = <T>(all: Iterable<T>): T[] => [...new Set(all)].toSorted();

interface PortRule {
  port: number | string;
  protocol: string;
}

test('the NetworkPolicy allows the ports that network lists', async () => {
  const policy = parse(fileOf(page, 'Restrict ports with a NetworkPolicy')) as {
    spec: {egress: {ports: PortRule[]}[]};
  };
  const allowed = policy.spec.egress.flatMap(({ports}) => ports);
  expect(sorted(allowed.map(({port, protocol}) => `${port}/${protocol}`))).toEqual(
    sorted((await endpointsOfPods()).map(({port, protocol}) => `${port}/${protocol}`)),
  );
});

test('the CiliumNetworkPolicy allows the hosts that network lists', async () => {
  const policy = parse(fileOf(page, 'Restrict hosts with Cilium')) as {
    spec: {
      egress: {toFQDNs?: {matchName?: string; matchPattern?: string}[]; toCIDR?: string[]}[];
    };
  };
  const allowed = policy.spec.egress.flatMap(({toFQDNs = [], toCIDR = []}) => [
    ...toFQDNs.map(({matchName, matchPattern}) => matchName ?? matchPattern),
    ...toCIDR.map((block) => block.replace('/32', '')),
  ]);
  const outside = (await endpointsOfPods())
    .map(({host}) => host)
    .filter((host) => !host.endsWith('.svc'));
  // Cilium matches one label with a star.
  expect(sorted(allowed)).toEqual(sorted([...outside, '*.*.scalr.io']));
});

test('the DaemonSet pulls the images that images lists', async () => {
  const heading = 'Pull images in advance';
  const {stdout} = await runCommand(Images, [...argumentsOf(heading), '--json']);
  const {images} = JSON.parse(stdout) as {images: {image: string; used: string[]}[]};
  const daemonSet = parse(fileOf(page, heading)) as {
    spec: {template: {spec: {containers: {image: string}[]}}};
  };
  expect(daemonSet.spec.template.spec.containers.map(({image}) => image)).toEqual(
    images.filter(({used}) => used.some((each) => each !== 'controller')).map(({image}) => image),
  );
});
