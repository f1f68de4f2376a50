import {existsSync} from 'node:fs';
import {afterEach, expect, test, vi} from 'vitest';
import CollectLogs from '../../../../src/commands/collect-logs.ts';
import Inspect from '../../../../src/commands/inspect.ts';
import {hostTools} from '../../../../src/ground/system/host-tools.ts';
import {contentOf, hostShims} from '../../../support/host-shims.ts';
import {memoryFiles} from '../../../support/memory-files.ts';
import {violations} from '../../../support/output-schema.ts';
import {runCommand} from '../../../support/run-command.ts';
import {poolTokenOf, USER_TOKEN} from '../../account/mock-account.ts';
import {mockApi} from '../../account/mock-api.ts';

const shims = hostShims();
afterEach(() => vi.unstubAllEnvs());

const TOKEN = 'tok-Zr81kQv93LmXw20p';
const STATE = {
  Status: 'running',
  Running: true,
  Restarting: false,
  OOMKilled: false,
  ExitCode: 0,
  Error: '',
  FinishedAt: '0001-01-01T00:00:00Z',
};
/** As Docker 27 prints it, without what no test needs. */
const inspected = (State: object = {}, more: object = {}) => [
  {
    Id: '7d1f6a1c',
    Name: '/scalr-agent',
    Args: ['run'],
    State: {...STATE, ...State},
    RestartCount: 0,
    HostConfig: {
      Binds: ['/var/run/docker.sock:/var/run/docker.sock'],
      LogConfig: {Type: 'json-file'},
    },
    Config: {
      Image: 'scalr/agent:latest',
      Cmd: ['run'],
      Entrypoint: ['scalr-agent'],
      Env: [
        'SCALR_URL=https://acme.scalr.io',
        `SCALR_TOKEN=${TOKEN}`,
        'HTTPS_PROXY=http://agent:pr0xy-Passw0rd@proxy.example.com:3128',
        'PATH=/usr/bin',
      ],
    },
    ...more,
  },
];

interface Says {
  inspect?: unknown;
  logs?: string;
  version?: string;
  info?: string;
}

const docker = ({
  inspect = inspected(),
  logs = 'echo "2026-11-21T08:00:00.000000001Z agent is ready to receive tasks"',
  version = `echo '{"Client":{"Version":"27.3.1"},"Server":{"Version":"27.3.1"}}'`,
  info = `echo '{"ServerVersion":"27.3.1","LoggingDriver":"json-file","ID":"secret-swarm"}'`,
}: Says = {}) => ({
  docker: `case "$1" in
inspect) ${typeof inspect === 'string' ? inspect : `cat <<'END'\n${JSON.stringify(inspect)}\nEND`}
;;
logs) ${logs} ;;
version) ${version} ;;
info) ${info} ;;
esac`,
});

const failing = (words: string) => `echo "${words}" >&2; exit 1`;
const files = memoryFiles({'/etc/os-release': 'PRETTY_NAME="Ubuntu 22.04.5 LTS"\n'});

async function collect(tools: Readonly<Record<string, string>>, ...more: string[]) {
  vi.stubEnv('PATH', shims.path(tools));
  const file = shims.zip();
  const now = () => new Date('2026-11-21T08:05:00Z');
  const outcome = await runCommand(
    CollectLogs,
    ['--docker', 'scalr-agent', '--out', file, ...more],
    {host: hostTools, files, now},
  );
  return {...outcome, file};
}

test('collects the container data and logs of both outputs, without the token', async () => {
  const logs = `echo "2026-11-21T08:00:00.1Z using ${TOKEN}"; echo "2026-11-21T08:00:00.2Z pr0xy-Passw0rd" >&2; echo "$*" >&2`;
  const {stdout, exit, file} = await collect(docker({logs}));
  expect({stdout, exit}).toEqual({stdout: `${file}\n`, exit: 0});
  const content = await contentOf(file);
  expect(Object.keys(content)).toEqual([
    'SUMMARY.md',
    'TICKET.md',
    'docker/info.json',
    'docker/inspect.json',
    'docker/version.json',
    'errors.json',
    'findings.json',
    'host/os-release.txt',
    'logs/docker/scalr-agent.log',
    'manifest.json',
    'redactions.json',
    'report.html',
  ]);
  expect(JSON.stringify(content)).not.toMatch(/Zr81kQv93|pr0xy-Passw0rd/);
  expect(content['docker/inspect.json']).toMatch(/"SCALR_TOKEN=\[redacted:[^"]*\]"/);
  expect(content['docker/inspect.json']).toContain('SCALR_URL=https://acme.scalr.io');
  expect(content['docker/info.json']).toContain('json-file');
  expect(content['docker/info.json']).not.toContain('swarm');
  expect(content['logs/docker/scalr-agent.log']).toMatch(/using \[redacted/);
  expect(content['logs/docker/scalr-agent.log']).toContain(
    'logs --timestamps --since 86400s -- scalr-agent',
  );
  expect(content['SUMMARY.md']).toContain('# Support bundle of container scalr-agent');
  expect(content['SUMMARY.md']).not.toContain('helm');
});

test('uses the same pseudonym for a value everywhere', async () => {
  const {file} = await collect(
    docker({logs: `echo "2026-11-21T08:04:30Z 401 Unauthorized: invalid token ${TOKEN}"`}),
  );
  const content = await contentOf(file);
  const [pseudonym = ''] =
    /\[redacted:scalr-token:[0-9a-f]{8}\]/.exec(content['logs/docker/scalr-agent.log'] ?? '') ?? [];
  expect(content['docker/inspect.json']).toContain(`"SCALR_TOKEN=${pseudonym}"`);
  expect(content['findings.json']).toContain(pseudonym);
  expect(content['SUMMARY.md']).toContain(pseudonym);
});

test.each([
  ['echo Emulated', 'the output of docker is not JSON: Emulated.'],
  ['true', 'docker returned no output.'],
  ['echo "[]"', 'docker returned incomplete or unexpected JSON.'],
])('fails when docker inspect runs `%s`', async (inspect, words) => {
  const {stdout, stderr, exit, file} = await collect(docker({inspect}));
  expect({stdout, exit, isThere: existsSync(file)}).toEqual({stdout: '', exit: 1, isThere: false});
  expect(stderr).toContain(`Cannot read container scalr-agent: docker inspect: ${words}`);
});

test('reports a gap when docker info is not JSON, and collects the rest', async () => {
  const {stdout, exit, file} = await collect(
    docker({version: 'echo 27.3', info: 'true'}),
    '--json',
  );
  expect({exit, ...JSON.parse(stdout)}).toMatchObject({
    exit: 7,
    complete: false,
    errors: [
      {subject: {object: 'docker/info.json'}, message: 'docker returned no output'},
      {
        subject: {object: 'docker/version.json'},
        message: 'the output of docker is not JSON: 27.3',
      },
    ],
  });
  expect(Object.keys(await contentOf(file))).toContain('logs/docker/scalr-agent.log');
});

test('reports only missing parts with --quiet', async () => {
  const {stdout, stderr, exit, file} = await collect(
    docker({info: failing('daemon is busy')}),
    '--quiet',
  );
  expect({stdout, stderr, exit}).toEqual({
    stdout: `${file}\n`,
    stderr: 'Could not be read:\n  ? NOT_COLLECTED  docker/info.json: daemon is busy\n',
    exit: 7,
  });
  expect(await collect(docker(), '--quiet')).toMatchObject({stderr: '', exit: 0});
});

test('writes a bundle that can be inspected, with JSON that matches the schema', async () => {
  const {stdout, file} = await collect(docker(), '--json');
  expect(violations('collect-logs', stdout)).toEqual([]);
  const collected = JSON.parse(stdout);
  expect(collected).toMatchObject({containers: 1, errors: [], findings: [], complete: true});
  const again = await runCommand(Inspect, [file, '--json']);
  expect(violations('inspect', again.stdout)).toEqual([]);
  expect(JSON.parse(again.stdout)).toMatchObject({
    valid: true,
    problems: [],
    verdict: 'No problems found.',
    findings: [],
  });
});

test.each([
  ['TOKEN_REJECTED', '{"level":"error","event":"401 Unauthorized: invalid token"}', 'SCALR_URL'],
  [
    'TLS_UNKNOWN_AUTHORITY',
    'ssl.SSLCertVerificationError: CERTIFICATE_VERIFY_FAILED',
    'SCALR_CA_CERT',
  ],
  [
    'PROXY_REFUSED',
    'OSError: Tunnel connection failed: 407 Proxy Authentication Required',
    'HTTPS_PROXY',
  ],
  [
    'DOCKER_UNREACHABLE',
    'permission denied while trying to connect to the Docker daemon socket',
    'docker.sock',
  ],
])('reports %s from the agent log', async (code, words, remedy) => {
  const {stdout} = await collect(
    docker({
      logs: `cat <<'END'\n2026-11-21T08:04:00.1Z starting\n2026-11-21T08:04:30.1Z ${words}\nEND\n`,
    }),
    '--json',
  );
  const [finding] = JSON.parse(stdout).findings;
  expect(finding).toMatchObject({
    code,
    verdict: 'error',
    subject: {object: 'container/scalr-agent'},
    evidence: {file: 'logs/docker/scalr-agent.log'},
  });
  expect(finding.remedies[0].text).toContain(remedy);
});

test.each([
  [
    'OOM_KILLED',
    {Status: 'exited', Running: false, OOMKilled: true, ExitCode: 137},
    '"OOMKilled": true',
  ],
  ['CRASH_LOOP', {Status: 'restarting', Restarting: true, ExitCode: 1}, '"Restarting": true'],
  [
    'NOT_RUNNING',
    {Status: 'exited', Running: false, ExitCode: 2, FinishedAt: '2026-11-21T07:00:00Z'},
    '"Status": "exited"',
  ],
])('reports %s from the container state', async (code, state, sign) => {
  const {file, stdout} = await collect(docker({inspect: inspected(state)}), '--json');
  const [finding] = JSON.parse(stdout).findings;
  const content = await contentOf(file);
  expect(finding).toMatchObject({code, evidence: {file: 'docker/inspect.json'}});
  expect(content['docker/inspect.json']?.split('\n')[finding.evidence.line - 1]).toContain(sign);
});

test('redacts a token in the arguments', async () => {
  const more = {Args: ['run', '--token', 'arg-9fK2mQ81zLpe'], Path: 'scalr-agent'};
  const {file} = await collect(
    docker({inspect: inspected({}, more), logs: 'echo "2026-11-21T08:00:00Z arg-9fK2mQ81zLpe"'}),
  );
  expect(JSON.stringify(await contentOf(file))).not.toContain('arg-9fK2mQ81zLpe');
});

test.each([
  ['no container of that name', 'Error: No such object: scalr-agent', 2, /docker ps --all/],
  [
    'an account without rights',
    'permission denied while trying to connect to the Docker daemon socket at unix:///var/run/docker.sock',
    1,
    /with sudo/,
  ],
  [
    'no daemon',
    'Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?',
    1,
    /DOCKER_HOST/,
  ],
])('fails with a next step for %s, and writes nothing', async (_, words, status, step) => {
  const {stderr, exit, file} = await collect(docker({inspect: failing(words)}));
  expect(exit).toBe(status);
  expect(stderr.replace(/\s+/g, ' ')).toMatch(step);
  expect(existsSync(file)).toBe(false);
});

test('suggests the docker of the agent when docker is missing', async () => {
  vi.stubEnv('PATH', shims.empty());
  const {stderr, exit} = await runCommand(CollectLogs, ['--docker', 'scalr-agent'], {
    host: hostTools,
    files,
  });
  expect(exit).toBe(2);
  expect(stderr).toContain('docker not found on PATH');
  expect(stderr).toContain('/opt/scalr-agent/embedded/bin');
});

test('reports a gap with a next step when docker keeps no log, and collects the rest', async () => {
  const logs = failing(
    'Error response from daemon: configured logging driver does not support reading',
  );
  const {stdout, exit, file} = await collect(docker({logs, info: failing('timeout')}), '--json');
  expect(exit).toBe(7);
  expect(JSON.parse(stdout)).toMatchObject({
    complete: false,
    errors: [
      {subject: {object: 'docker/info.json'}},
      {
        subject: {object: 'logs/docker/scalr-agent.log'},
        message: expect.stringContaining('logging driver'),
      },
    ],
  });
  expect(Object.keys(await contentOf(file))).toContain('docker/inspect.json');
});

test('keeps start and end of a large log, with complete lines of both outputs', async () => {
  const logs = `i=0; while [ $i -lt 20000 ]; do echo "2026-11-21T08:00:00Z out $i aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa."; echo "2026-11-21T08:00:00Z err $i bbbbbbbbbbbbbbbbbbbbbbbb." >&2; i=$((i+1)); done`;
  const {file} = await collect(docker({logs}), '--max-size', '100Ki');
  const {'logs/docker/scalr-agent.log': log = ''} = await contentOf(file);
  expect(log.length).toBeLessThan(110 * 1024);
  expect(log).toContain('out 0 ');
  expect(log).toMatch(/(out|err) 19999 /);
  expect(log).toContain('omitted');
  const whole = /^2026-11-21T08:00:00Z (out \d+ a+|err \d+ b+)\.$/;
  const odd = log
    .split('\n')
    .filter((line) => line !== '' && !whole.test(line) && !line.includes('omitted'));
  // The one that the limit cut.
  expect(odd.length).toBeLessThanOrEqual(1);
});

test('stops docker at the timeout, and keeps the data so far', async () => {
  const logs = 'echo "2026-11-21T08:00:00Z first"; exec sleep 120';
  const {stdout, exit, file} = await collect(docker({logs}), '--json', '--timeout', '4s');
  expect(exit).toBe(7);
  expect(JSON.parse(stdout).errors).toMatchObject([
    {
      subject: {object: 'logs/docker/scalr-agent.log'},
      kind: 'aborted',
      message: 'incomplete: timed out (--timeout)',
    },
  ]);
  const content = await contentOf(file);
  expect(content['logs/docker/scalr-agent.log']).toContain('first');
  expect(JSON.parse(content['errors.json'] as string)).toMatchObject([
    {at: '2026-11-21T08:00:00Z'},
  ]);
});

test('lists the contents with --dry-run', async () => {
  const {stdout, file} = await collect(docker(), '--dry-run');
  expect(stdout.split('\n')).toEqual(
    expect.arrayContaining(['docker/inspect.json', 'logs/docker/scalr-agent.log']),
  );
  expect(existsSync(file)).toBe(false);
});

test('cannot be used with flags for a cluster', async () => {
  const {stderr, exit} = await runCommand(CollectLogs, ['--docker', 'a', '--namespace', 'b']);
  expect(exit).toBe(2);
  expect(stderr).toContain('--docker');
});

test('adds the agent pool, its agents and its queue, if there is a token for the host of the container', async () => {
  const api = await mockApi();
  const pool = api.account.pool('edge');
  api.account.agent(pool, 'f00dcafe0123', {status: 'busy'});
  api.account.token(pool, {description: 'of-the-pool'});
  api.account.run(
    api.account.workspace('network', api.account.environment('prod'), pool),
    'plan_queued',
  );
  const poolToken = poolTokenOf(api.host, pool.id, 'at-v0');
  const Config = {
    Hostname: 'f00dcafe0123',
    Env: [`SCALR_URL=${api.url}`, `SCALR_AGENT_TOKEN=${poolToken}`],
  };
  vi.stubEnv('PATH', shims.path(docker({inspect: inspected({}, {Config})})));
  const run = async (...more: string[]) => {
    const file = shims.zip();
    const {stderr, exit} = await runCommand(
      CollectLogs,
      ['--docker', 'scalr-agent', '--out', file, ...more],
      {
        host: hostTools,
        env: {SSL_CERT_FILE: 'ca.pem', ...api.deps.env},
        now: () => new Date('2026-11-21T08:05:00Z'),
        files: memoryFiles({
          '/etc/os-release': 'PRETTY_NAME="Ubuntu 22.04.5 LTS"\n',
          'ca.pem': api.ca,
        }),
      },
    );
    expect({exit}, stderr).toEqual({exit: 0});
    return contentOf(file);
  };
  const content = await run();
  const account = JSON.parse(String(content['scalr/scalr-agent.json']));
  expect(account).toMatchObject({
    pods: ['f00dcafe0123'],
    pool: {name: 'edge'},
    agents: [{name: 'f00dcafe0123', status: 'busy'}],
    queue: [{status: 'plan_queued'}],
  });
  for (const secret of [USER_TOKEN, poolToken])
    expect(JSON.stringify(content)).not.toContain(secret.split('.')[1]);
  const before = api.sent.length;
  expect(Object.keys(await run('--no-account'))).not.toContain('scalr/scalr-agent.json');
  expect(api.sent).toHaveLength(before);
});
