import {existsSync} from 'node:fs';
import {afterEach, expect, test, vi} from 'vitest';
import {hostTools} from '../../../src/adapters/host-tools.ts';
import CollectLogs from '../../../src/commands/collect-logs.ts';
import {contentOf, hostShims} from '../../support/host-shims.ts';
import {memoryFiles} from '../../support/memory-files.ts';
import {violations} from '../../support/output-schema.ts';
import {runCommand} from '../../support/run-command.ts';

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
    HostConfig: {Binds: ['/var/run/docker.sock:/var/run/docker.sock'], LogConfig: {Type: 'json-file'}},
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
  const outcome = await runCommand(CollectLogs, ['--docker', 'scalr-agent', '--out', file, ...more], {host: hostTools, files, now});
  return {...outcome, file};
}

test('a bundle holds what docker knows of the container and all it said on both outputs, and no token', async () => {
  const logs = `echo "2026-11-21T08:00:00.1Z using ${TOKEN}"; echo "2026-11-21T08:00:00.2Z pr0xy-Passw0rd" >&2; echo "$*" >&2`;
  const {stdout, exit, file} = await collect(docker({logs}));
  expect({stdout, exit}).toEqual({stdout: `${file}\n`, exit: 0});
  const content = await contentOf(file);
  expect(Object.keys(content)).toEqual([
    'SUMMARY.md',
    'docker/info.json',
    'docker/inspect.json',
    'docker/version.json',
    'errors.json',
    'findings.json',
    'host/os-release.txt',
    'logs/docker/scalr-agent.log',
    'manifest.json',
    'redactions.json',
  ]);
  expect(JSON.stringify(content)).not.toMatch(/Zr81kQv93|pr0xy-Passw0rd/);
  expect(content['docker/inspect.json']).toMatch(/"SCALR_TOKEN=\[redacted:[^"]*\]"/);
  expect(content['docker/inspect.json']).toContain('SCALR_URL=https://acme.scalr.io');
  expect(content['docker/info.json']).toContain('json-file');
  expect(content['docker/info.json']).not.toContain('swarm');
  expect(content['logs/docker/scalr-agent.log']).toMatch(/using \[redacted/);
  expect(content['logs/docker/scalr-agent.log']).toContain('logs --timestamps --since 86400s -- scalr-agent');
  expect(content['SUMMARY.md']).toContain('# Support bundle of container scalr-agent');
  expect(content['SUMMARY.md']).not.toContain('helm');
});

test('a value has the same name wherever it was', async () => {
  const {file} = await collect(docker({logs: `echo "2026-11-21T08:04:30Z 401 Unauthorized: invalid token ${TOKEN}"`}));
  const content = await contentOf(file);
  const [pseudonym = ''] = /\[redacted:scalr-token:[0-9a-f]{8}\]/.exec(content['logs/docker/scalr-agent.log'] ?? '') ?? [];
  expect(content['docker/inspect.json']).toContain(`"SCALR_TOKEN=${pseudonym}"`);
  expect(content['findings.json']).toContain(pseudonym);
  expect(content['SUMMARY.md']).toContain(pseudonym);
});

test.each([
  ['echo Emulated', 'what docker said is no JSON: Emulated.'],
  ['true', 'docker said nothing.'],
  ['echo "[]"', 'what docker said is not the JSON it should be, or not all of it.'],
])('a container that docker describes with `%s` cannot be collected from', async (inspect, words) => {
  const {stdout, stderr, exit, file} = await collect(docker({inspect}));
  expect({stdout, exit, isThere: existsSync(file)}).toEqual({stdout: '', exit: 1, isThere: false});
  expect(stderr).toContain(`Container scalr-agent cannot be read: docker inspect: ${words}`);
});

test('a daemon that describes itself in no JSON is a gap, and the rest is there', async () => {
  const {stdout, exit, file} = await collect(docker({version: 'echo 27.3', info: 'true'}), '--json');
  expect({exit, ...JSON.parse(stdout)}).toMatchObject({
    exit: 7,
    complete: false,
    errors: [
      {what: 'docker/info.json', message: 'docker said nothing'},
      {what: 'docker/version.json', message: 'what docker said is no JSON: 27.3'},
    ],
  });
  expect(Object.keys(await contentOf(file))).toContain('logs/docker/scalr-agent.log');
});

test('with --quiet it is said what a bundle lacks, and nothing else', async () => {
  const {stdout, stderr, exit, file} = await collect(docker({info: failing('daemon is busy')}), '--quiet');
  expect({stdout, stderr, exit}).toEqual({
    stdout: `${file}\n`,
    stderr: 'What could not be read:\n  - docker/info.json: daemon is busy\n',
    exit: 7,
  });
  expect(await collect(docker(), '--quiet')).toMatchObject({stderr: '', exit: 0});
});

test('the bundle can be inspected, and says to programs what the schema says', async () => {
  const {stdout, file} = await collect(docker(), '--json');
  expect(violations('collect-logs', stdout)).toEqual([]);
  const collected = JSON.parse(stdout);
  expect(collected).toMatchObject({containers: 1, errors: [], findings: [], complete: true});
  const again = await runCommand(CollectLogs, ['--inspect', file, '--json']);
  expect(JSON.parse(again.stdout)).toMatchObject({
    containers: 1,
    errors: [],
    findings: [],
    redactions: collected.redactions,
    complete: true,
  });
});

test.each([
  ['TOKEN_REJECTED', '{"level":"error","event":"401 Unauthorized: invalid token"}', 'SCALR_URL'],
  ['TLS_UNKNOWN_AUTHORITY', 'ssl.SSLCertVerificationError: CERTIFICATE_VERIFY_FAILED', 'SCALR_CA_CERT'],
  ['PROXY_REFUSED', 'OSError: Tunnel connection failed: 407 Proxy Authentication Required', 'HTTPS_PROXY'],
  ['DOCKER_UNREACHABLE', 'permission denied while trying to connect to the Docker daemon socket', 'docker.sock'],
])('%s is read from the words of the agent', async (code, words, remedy) => {
  const {stdout} = await collect(
    docker({logs: `cat <<'END'\n2026-11-21T08:04:00.1Z starting\n2026-11-21T08:04:30.1Z ${words}\nEND\n`}),
    '--json',
  );
  const [finding] = JSON.parse(stdout).findings;
  expect(finding).toMatchObject({code, severity: 'error', object: 'container/scalr-agent', evidence: 'logs/docker/scalr-agent.log'});
  expect(finding.remedy).toContain(remedy);
});

test.each([
  ['OOM_KILLED', {Status: 'exited', Running: false, OOMKilled: true, ExitCode: 137}, '"OOMKilled": true'],
  ['CRASH_LOOP', {Status: 'restarting', Restarting: true, ExitCode: 1}, '"Restarting": true'],
  ['NOT_RUNNING', {Status: 'exited', Running: false, ExitCode: 2, FinishedAt: '2026-11-21T07:00:00Z'}, '"Status": "exited"'],
])('%s is read from the state of the container', async (code, state, sign) => {
  const {file, stdout} = await collect(docker({inspect: inspected(state)}), '--json');
  const [finding] = JSON.parse(stdout).findings;
  const content = await contentOf(file);
  expect(finding).toMatchObject({code, evidence: 'docker/inspect.json'});
  expect(content['docker/inspect.json']?.split('\n')[finding.line - 1]).toContain(sign);
});

test('a token among the arguments is hidden too', async () => {
  const more = {Args: ['run', '--token', 'arg-9fK2mQ81zLpe'], Path: 'scalr-agent'};
  const {file} = await collect(docker({inspect: inspected({}, more), logs: 'echo "2026-11-21T08:00:00Z arg-9fK2mQ81zLpe"'}));
  expect(JSON.stringify(await contentOf(file))).not.toContain('arg-9fK2mQ81zLpe');
});

test.each([
  ['no container of that name', 'Error: No such object: scalr-agent', 1, /docker ps --all/],
  [
    'an account without rights',
    'permission denied while trying to connect to the Docker daemon socket at unix:///var/run/docker.sock',
    1,
    /with sudo/,
  ],
  ['no daemon', 'Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?', 1, /DOCKER_HOST/],
])('%s is an error with a next step, and nothing is written', async (_, words, status, step) => {
  const {stderr, exit, file} = await collect(docker({inspect: failing(words)}));
  expect(exit).toBe(status);
  expect(stderr.replace(/\s+/g, ' ')).toMatch(step);
  expect(existsSync(file)).toBe(false);
});

test('without docker the operator is told where the agent brings it', async () => {
  vi.stubEnv('PATH', shims.empty());
  const {stderr, exit} = await runCommand(CollectLogs, ['--docker', 'scalr-agent'], {host: hostTools, files});
  expect(exit).toBe(2);
  expect(stderr).toContain('docker is not on PATH');
  expect(stderr).toContain('/opt/scalr-agent/embedded/bin');
});

test('a log that docker does not keep is a gap with its next step, and the rest is there', async () => {
  const logs = failing('Error response from daemon: configured logging driver does not support reading');
  const {stdout, exit, file} = await collect(docker({logs, info: failing('timeout')}), '--json');
  expect(exit).toBe(7);
  expect(JSON.parse(stdout)).toMatchObject({
    complete: false,
    errors: [{what: 'docker/info.json'}, {what: 'logs/docker/scalr-agent.log', message: expect.stringContaining('logging driver')}],
  });
  expect(Object.keys(await contentOf(file))).toContain('docker/inspect.json');
});

test('of a large log the beginning and the end are kept, and lines of both outputs stay whole', async () => {
  const logs = `i=0; while [ $i -lt 20000 ]; do echo "2026-11-21T08:00:00Z out $i aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa."; echo "2026-11-21T08:00:00Z err $i bbbbbbbbbbbbbbbbbbbbbbbb." >&2; i=$((i+1)); done`;
  const {file} = await collect(docker({logs}), '--max-size', '100Ki');
  const {'logs/docker/scalr-agent.log': log = ''} = await contentOf(file);
  expect(log.length).toBeLessThan(110 * 1024);
  expect(log).toContain('out 0 ');
  expect(log).toMatch(/(out|err) 19999 /);
  expect(log).toContain('left out here');
  const whole = /^2026-11-21T08:00:00Z (out \d+ a+|err \d+ b+)\.$/;
  const odd = log.split('\n').filter((line) => line !== '' && !whole.test(line) && !line.includes('left out here'));
  // The one that the limit cut.
  expect(odd.length).toBeLessThanOrEqual(1);
});

test('time that is over ends docker, and the bundle holds what came', async () => {
  const logs = 'echo "2026-11-21T08:00:00Z first"; exec sleep 30';
  const {stdout, exit, file} = await collect(docker({logs}), '--json', '--timeout', '2s');
  expect(exit).toBe(7);
  expect(JSON.parse(stdout).errors).toMatchObject([
    {what: 'logs/docker/scalr-agent.log', kind: 'over', message: 'only a part came: --timeout was over'},
  ]);
  expect((await contentOf(file))['logs/docker/scalr-agent.log']).toContain('first');
});

test('--dry-run lists what would be in it', async () => {
  const {stdout, file} = await collect(docker(), '--dry-run');
  expect(stdout.split('\n')).toEqual(expect.arrayContaining(['docker/inspect.json', 'logs/docker/scalr-agent.log']));
  expect(existsSync(file)).toBe(false);
});

test('it goes with no flag of a cluster', async () => {
  const {stderr, exit} = await runCommand(CollectLogs, ['--docker', 'a', '--namespace', 'b']);
  expect(exit).toBe(2);
  expect(stderr).toContain('--docker');
});
