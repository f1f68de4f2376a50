import {expect, test} from 'vitest';
import Network from '../../src/commands/network.ts';
import type {ConnectionRequest, Connections} from '../../src/ground/system/system.ts';
import {certificates} from '../support/certificates.ts';
import {memoryFiles} from '../support/memory-files.ts';
import {violations} from '../support/output-schema.ts';
import {runCommand} from '../support/run-command.ts';

const ACCOUNT = ['--url', 'https://acme.scalr.io'];

interface Host {
  host: string;
  from: string;
  probe?: {status: string; message: string};
}

/** Connections that work, except to these hosts. */
function network(broken: readonly string[] = []): Connections & {requests: ConnectionRequest[]} {
  const requests: ConnectionRequest[] = [];
  return {
    requests,
    async open(request) {
      requests.push(request);
      return broken.includes(request.host)
        ? {state: 'refused', detail: ''}
        : {state: 'ok', detail: ''};
    },
  };
}

async function hostsOf(
  argv: readonly string[],
  connections?: Connections,
  files = memoryFiles(),
): Promise<{hosts: Host[]; exit: number; stdout: string}> {
  const {stdout, exit} = await runCommand(Network, [...argv, '--json'], {
    files,
    ...(connections ? {connections} : {}),
  });
  expect(violations('network', stdout)).toEqual([]);
  return {hosts: JSON.parse(stdout).hosts, exit, stdout};
}

test.each([
  ['kubernetes', ['agent', 'runs', 'nodes', 'installer']],
  ['docker', ['agent', 'runs', 'docker']],
  ['systemd', ['agent', 'runs', 'docker']],
])('lists the hosts of --target %s without any connection', async (target, origins) => {
  const {hosts, exit} = await hostsOf(['--target', target]);
  expect(exit).toBe(0);
  expect([...new Set(hosts.map(({from}) => from))].toSorted()).toEqual(origins.toSorted());
  expect(hosts.some(({probe}) => probe !== undefined)).toBe(false);
});

test('prints one list per origin', async () => {
  const {stdout} = await runCommand(Network, [
    ...ACCOUNT,
    '--chart',
    'agent-job',
    '--https-proxy',
    'http://ann:secret@proxy.example.com:3128',
  ]);
  expect(stdout.split('\n').filter((line) => line.startsWith('From '))).toEqual([
    'From the agent',
    'From runs',
    'From the nodes',
    'From the machine that installs the agent',
  ]);
  expect(stdout).toMatch(/^ {2}relay\.acme\.scalr\.io:443 +Scalr relay/m);
  expect(stdout).not.toContain('secret');
});

test.each([
  ['runs', true],
  ['vcs', false],
])('mentions the hosts of runs only if the agent executes some: --purpose %s', async (purpose, isMentioned) => {
  const argv = ['--url', 'https://acme.scalr.io', '--purpose', purpose];
  const {stdout} = await runCommand(Network, argv);
  expect(stdout.includes('Runs also connect to')).toBe(isMentioned);
});

test('tries each host once, through the proxy and with the CA, and never with the token', async () => {
  const connections = network();
  const files = memoryFiles({'ca.pem': certificates['ca.pem'] as Buffer});
  const flags = [
    '--target',
    'docker',
    '--https-proxy',
    'http://proxy.example.com:3128',
    '--no-proxy',
    '.opentofu.org',
    '--ca-file',
    'ca.pem',
  ];
  const env = {SCALR_AGENT_TOKEN: 'e30.e30.c2ln'};
  const argv = [
    ...ACCOUNT,
    ...flags,
    '--otel-endpoint',
    'otel.example.com:4317',
    '--probe',
    '--json',
  ];
  const {stdout, exit} = await runCommand(Network, argv, {files, connections, env});
  expect(exit).toBe(0);
  expect(violations('network', stdout)).toEqual([]);
  const by = Object.fromEntries(
    connections.requests.map((each) => [`${each.host}:${each.port}`, each]),
  );
  expect(Object.keys(by)).toHaveLength(connections.requests.length);
  expect(by['acme.scalr.io:443']).toMatchObject({
    isTls: true,
    proxy: 'http://proxy.example.com:3128',
    ca: expect.stringContaining('BEGIN CERTIFICATE'),
  });
  expect(by['registry.opentofu.org:443']?.proxy).toBeUndefined();
  expect(by['proxy.example.com:3128']).toMatchObject({isTls: false, proxy: undefined});
  expect(by['otel.example.com:4317']).toMatchObject({isTls: false, proxy: undefined});
  // The agent trusts only the bundle; Docker has public roots too.
  const roots = (host: string): number => (by[host]?.ca ?? '').split('BEGIN CERTIFICATE').length;
  expect(roots('registry-1.docker.io:443')).toBeGreaterThan(roots('acme.scalr.io:443') + 50);
  expect(JSON.stringify(connections.requests)).not.toContain('e30.e30');
});

test('exits with 3 only if a required host is not reachable', async () => {
  const {hosts, exit} = await hostsOf(
    [...ACCOUNT, '--target', 'docker', '--probe'],
    network(['relay.acme.scalr.io']),
  );
  expect(exit).toBe(3);
  expect(hosts.find(({host}) => host === 'relay.acme.scalr.io')?.probe).toEqual({
    status: 'unreachable',
    message: 'connection refused',
  });
  const optional = await hostsOf(
    [...ACCOUNT, '--target', 'docker', '--otel-endpoint', 'otel.example.com:4317', '--probe'],
    network(['otel.example.com']),
  );
  expect(optional.exit).toBe(0);
  const {stdout} = await runCommand(Network, [...ACCOUNT, '--target', 'docker', '--probe'], {
    connections: network(['relay.acme.scalr.io']),
  });
  expect(stdout).toMatch(/^× relay\.acme\.scalr\.io:443 .*\n {6}connection refused$/m);
  expect(stdout).toMatch(/^✓ acme\.scalr\.io:443/m);
});

test('skips what this machine cannot try: patterns, UDP and names in the cluster', async () => {
  const connections = network();
  const {hosts, exit} = await hostsOf([...ACCOUNT, '--chart', 'agent-job', '--probe'], connections);
  expect(exit).toBe(0);
  const skipped = new Map(
    hosts
      .filter(({probe}) => probe?.status === 'skipped')
      .map(({host, probe}) => [host, probe?.message]),
  );
  expect(skipped.get('*.scalr.io')).toBe('a pattern, not a host');
  expect(skipped.get('<API server>')).toBe('its address is not known here');
  expect(skipped.get('kubernetes.default.svc')).toContain('scalr-agent preflight --probe');
  expect(connections.requests.filter(({host}) => /[*<]|\.svc$|^169/.test(host))).toEqual([]);
});

test.each([
  'docker',
  'systemd',
])('does not connect from %s to the metadata service', async (target) => {
  const connections = network();
  const {hosts} = await hostsOf([...ACCOUNT, '--target', target, '--probe'], connections);
  const metadata = hosts.find(({host}) => host === '169.254.169.254');
  expect(metadata?.probe).toEqual({status: 'skipped', message: 'only runs connect to it'});
  expect(connections.requests.filter(({host}) => host === metadata?.host)).toEqual([]);
});

test.each([
  [['--format', 'allow-list', '--json'], '--json cannot be used with --format allow-list.'],
  [['--format', 'allow-list', '--probe'], '--format allow-list cannot be used with --probe.'],
  [['--probe-url', 'gitlab.example.com'], '--probe-url: "gitlab.example.com" is not an HTTP URL.'],
])('refuses %j', async (argv, message) => {
  const {stdout, stderr, exit} = await runCommand(Network, argv as string[]);
  expect(exit).toBe(2);
  expect(stdout + stderr).toContain(message);
});

test('writes the file of --out', async () => {
  const files = memoryFiles();
  const {stdout, stderr, exit} = await runCommand(
    Network,
    [...ACCOUNT, '--chart', 'agent-local', '--format', 'allow-list', '--out', 'hosts.txt'],
    {files},
  );
  expect({exit, stdout}).toEqual({exit: 0, stdout: ''});
  expect(stderr).toContain('hosts.txt');
  expect((await files.read('hosts.txt')).toString()).toContain('\n.scalr.io\n');
});
