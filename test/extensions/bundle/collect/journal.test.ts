import {existsSync} from 'node:fs';
import {afterEach, expect, test, vi} from 'vitest';
import CollectLogs from '../../../../src/commands/collect-logs.ts';
import {ExpectedError} from '../../../../src/ground/errors.ts';
import {hostTools} from '../../../../src/ground/system/host-tools.ts';
import {contentOf, hostShims} from '../../../support/host-shims.ts';
import {memoryFiles} from '../../../support/memory-files.ts';
import {violations} from '../../../support/output-schema.ts';
import {runCommand} from '../../../support/run-command.ts';

const shims = hostShims();
afterEach(() => vi.unstubAllEnvs());

/** As `systemctl cat` prints a unit and its drop-ins. */
const UNIT = `# /lib/systemd/system/scalr-agent.service
[Unit]
Description=Scalr Agent

[Service]
Environment="SCALR_URL=https://acme.scalr.io" SCALR_TOKEN=inline-7Hq2LmX91bVw
EnvironmentFile=-/etc/scalr-agent/agent.env
ExecStart=/opt/scalr-agent/bin/agent run --registration-token 'arg-5Tz8NpK30cYd'

# /etc/systemd/system/scalr-agent.service.d/proxy.conf
[Service]
Environment="HTTPS_PROXY=http://agent:pr0xy%%40Passw0rd@proxy.example.com:3128"
`;
const ENVIRONMENT =
  '# of the agent\nSCALR_AGENT_TOKEN="file-2Jx6WsR84gUe"\nSCALR_DATA_HOME=/var/lib/scalr-agent\n';
const SECRETS = /inline-7Hq2|arg-5Tz8|file-2Jx6|pr0xy/;
const LINE = '2026-11-21T08:04:30.123456+0000 vm-1 scalr-agent[812]:';

const properties = (more: Readonly<Record<string, string>> = {}): string =>
  Object.entries({
    Id: 'scalr-agent.service',
    LoadState: 'loaded',
    ActiveState: 'active',
    SubState: 'running',
    Result: 'success',
    EnvironmentFiles: '/etc/scalr-agent/agent.env (ignore_errors=yes)',
    ...more,
  })
    .map(([key, value]) => `${key}=${value}`)
    .join('\n');

interface Says {
  unit?: string;
  show?: string;
  docker?: string;
  dockerUnit?: string;
  journal?: string;
}

const shows = (text: string): string => `cat <<'END'\n${text}\nEND\n`;
const says = ({
  unit = shows(UNIT),
  show = shows(properties()),
  docker = shows('LoadState=not-found'),
  dockerUnit = 'echo "No files found for scalr-docker.service." >&2; exit 1',
  journal = shows(`${LINE} agent is ready to receive tasks`),
}: Says = {}) => ({
  systemctl: `case "$*" in
cat*scalr-agent*) ${unit} ;;
show*scalr-agent*) ${show} ;;
cat*) ${dockerUnit} ;;
show*) ${docker} ;;
esac`,
  journalctl: `case "$*" in --version) echo "systemd 249 (249.11)" ;; *) ${journal} ;; esac`,
});

const disk = memoryFiles({
  '/etc/os-release': 'ID=ubuntu\n',
  '/etc/scalr-agent/agent.env': ENVIRONMENT,
});

async function collect(tools: Readonly<Record<string, string>>, files = disk) {
  vi.stubEnv('PATH', shims.path(tools));
  const file = shims.zip();
  const now = () => new Date('2026-11-21T08:05:00Z');
  const outcome = await runCommand(
    CollectLogs,
    ['--target', 'systemd', '--since', '2h', '--json', '--out', file],
    {
      host: hostTools,
      files,
      now,
    },
  );
  return {...outcome, file, document: JSON.parse(outcome.stdout)};
}

test('collects journal, unit, drop-ins and state of the agent, without secrets', async () => {
  const journal = `cat <<'END'
${LINE} tokens inline-7Hq2LmX91bVw arg-5Tz8NpK30cYd
${LINE} file-2Jx6WsR84gUe and pr0xy%40Passw0rd or pr0xy@Passw0rd
END
echo "called with $*"`;
  const {document, stdout, exit, file} = await collect(says({journal}));
  expect(exit).toBe(0);
  expect(violations('collect-logs', stdout)).toEqual([]);
  expect(document).toMatchObject({errors: [], complete: true});
  const content = await contentOf(file);
  expect(Object.keys(content)).toEqual([
    'SUMMARY.md',
    'TICKET.md',
    'errors.json',
    'findings.json',
    'host/os-release.txt',
    'logs/journal/scalr-agent.log',
    'manifest.json',
    'redactions.json',
    'report.html',
    'systemd/scalr-agent.properties.txt',
    'systemd/scalr-agent.service.txt',
    'systemd/version.txt',
  ]);
  expect(JSON.stringify(content)).not.toMatch(SECRETS);
  expect(JSON.stringify(content)).not.toContain('of the agent');
  expect(content['systemd/scalr-agent.service.txt']).toContain('SCALR_URL=https://acme.scalr.io');
  expect(content['logs/journal/scalr-agent.log']).toContain(
    `--unit scalr-agent.service --all --no-pager --utc --output short-iso-precise --since @${Date.parse('2026-11-21T06:05:00Z') / 1000}`,
  );
  expect(content['SUMMARY.md']).toContain('# Support bundle of systemd unit scalr-agent');
  expect(content['SUMMARY.md']).toContain('Units: 1.');
});

test('reads agent messages behind the prefix of the journal', async () => {
  const {document} = await collect(
    says({
      journal: shows(`${LINE} {"level": "error", "event": "401 Unauthorized: invalid token"}`),
    }),
  );
  expect(document.findings).toMatchObject([
    {
      code: 'TOKEN_REJECTED',
      subject: {object: 'unit/scalr-agent'},
      message: 'agent log: 401 Unauthorized: invalid token',
    },
  ]);
});

test.each([
  [
    'NOT_RUNNING',
    {ActiveState: 'failed', SubState: 'failed', Result: 'exit-code', ExecMainStatus: '1'},
  ],
  ['RESTARTED', {NRestarts: '4'}],
  ['UNIT_CHANGED', {NeedDaemonReload: 'yes'}],
  ['OOM_KILLED', {Result: 'oom-kill'}],
])('reports %s from the unit state', async (code, state) => {
  const {document, file} = await collect(says({show: shows(properties(state))}));
  expect(document.findings).toMatchObject([
    {
      code,
      subject: {object: 'unit/scalr-agent'},
      evidence: {file: 'systemd/scalr-agent.properties.txt'},
    },
  ]);
  const [key = '', value = ''] = Object.entries(state)[0] ?? [];
  const content = await contentOf(file);
  expect(
    content['systemd/scalr-agent.properties.txt']?.split('\n')[
      document.findings[0].evidence.line - 1
    ],
  ).toBe(`${key}=${value}`);
});

test('collects the docker service of the package too, and reports a missing proxy', async () => {
  const {document, file} = await collect(
    says({
      docker: shows(properties({Id: 'scalr-docker.service'})),
      dockerUnit: shows('[Service]\nExecStart=/d'),
    }),
  );
  expect(document.findings).toMatchObject([
    {code: 'PROXY_NOT_EVERYWHERE', subject: {object: 'unit/scalr-docker'}},
  ]);
  expect(Object.keys(await contentOf(file))).toEqual(
    expect.arrayContaining(['logs/journal/scalr-docker.log', 'systemd/scalr-docker.service.txt']),
  );
});

test.each([
  [
    'shows only own messages',
    `echo "Hint: You are currently not seeing messages from other users and the system." >&2; echo "-- No entries --"`,
    'forbidden',
    'with sudo',
  ],
  [
    'cannot be opened',
    'echo "No journal files were opened due to insufficient permissions." >&2; exit 1',
    'forbidden',
    'systemd-journal',
  ],
  [
    'is not kept',
    'echo "No journal files were found." >&2; echo "-- No entries --"',
    'not-found',
    'journald.conf',
  ],
])('reports a gap with a next step for a journal that %s, and collects the unit', async (_, journal, kind, step) => {
  const {document, exit, file} = await collect(says({journal}));
  expect(exit).toBe(7);
  expect(document.errors).toMatchObject([
    {
      subject: {object: 'logs/journal/scalr-agent.log'},
      kind,
      message: expect.stringContaining(step),
    },
  ]);
  expect(document.findings).toEqual([]);
  expect(Object.keys(await contentOf(file))).toContain('systemd/scalr-agent.service.txt');
});

test('reports an unreadable EnvironmentFile, because its secrets cannot be redacted', async () => {
  const refused = new ExpectedError('Cannot read /etc/scalr-agent/agent.env: permission denied.', {
    code: 'UNREADABLE_FILE',
  });
  const {document, exit} = await collect(says(), {...disk, read: () => Promise.reject(refused)});
  expect(exit).toBe(7);
  expect(document.errors).toMatchObject([
    {kind: 'forbidden', message: expect.stringContaining('sudo')},
  ]);
});

test('ignores a missing optional EnvironmentFile', async () => {
  const {document} = await collect(says(), memoryFiles());
  expect(document).toMatchObject({errors: [], complete: true});
});

test('reports a gap when systemd does not respond, and collects the journal', async () => {
  const failure =
    'echo "System has not been booted with systemd as init system (PID 1). Can\'t operate." >&2; exit 1';
  const {document, exit, file} = await collect(
    says({unit: failure, show: failure, docker: failure}),
  );
  expect(exit).toBe(7);
  expect(document.errors.map(({kind}: {kind: string}) => kind)).toEqual([
    'unreachable',
    'unreachable',
  ]);
  expect((await contentOf(file))['logs/journal/scalr-agent.log']).toContain('ready to receive');
});

test('writes nothing when neither systemd nor the journal responds', async () => {
  const failure =
    'echo "System has not been booted with systemd as init system (PID 1). Can\'t operate." >&2; exit 1';
  const journal = 'echo "No journal files were found." >&2; echo "-- No entries --"';
  const {document, exit, file} = await collect(
    says({unit: failure, show: failure, docker: failure, dockerUnit: failure, journal}),
  );
  expect(exit).toBe(2);
  expect(document.error.message).toMatch(
    /^Cannot read unit scalr-agent. No bundle was written: systemctl: systemd is not available.*; journalctl: no journal found on this machine/,
  );
  expect(document.error.suggestions).toContainEqual(expect.stringContaining('--target docker'));
  expect(existsSync(file)).toBe(false);
});

test('reports an agent without log lines in the time range', async () => {
  const {document, exit} = await collect(says({journal: 'echo "-- No entries --"'}));
  expect({exit, findings: document.findings}).toMatchObject({
    exit: 0,
    findings: [{code: 'NO_LOG'}],
  });
});

test('fails with a next step when the machine has no agent, and writes nothing', async () => {
  const {document, exit, file} = await collect(
    says({
      unit: 'echo "No files found for scalr-agent.service." >&2; exit 1',
      show: shows('LoadState=not-found'),
    }),
  );
  expect(exit).toBe(2);
  expect(document.error).toMatchObject({
    code: 'AGENT_NOT_FOUND',
    suggestions: expect.arrayContaining([expect.stringContaining('--target docker')]),
  });
  expect(existsSync(file)).toBe(false);
});

test('suggests --target docker when journalctl is missing', async () => {
  vi.stubEnv('PATH', shims.empty());
  const {stderr, exit} = await runCommand(CollectLogs, ['--journal'], {
    host: hostTools,
    files: disk,
  });
  expect(exit).toBe(2);
  expect(stderr).toContain('journalctl not found on PATH');
  expect(stderr).toContain('--target docker');
});
