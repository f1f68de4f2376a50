import {existsSync, mkdtempSync, readdirSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {unpack} from '../support/collected.ts';
import {hostShims} from '../support/host-shims.ts';
import {onTerminal} from './terminal.ts';

const shims = hostShims();
const INSPECTED = `echo '[{"Name": "/agent", "State": {"Running": true}, "Config": {"Env": []}}]'`;
const LINE = 'echo "2026-11-21T08:00:00Z the agent is ready"';
/** Runs until it is stopped, and shows on the terminal when it has started. */
const WAITS = 'echo "it waits" >/dev/tty; exec sleep 30';
const CTRL_C = '\u0003';

interface Says {
  inspect?: string;
  logs?: string;
}

const docker = ({inspect = INSPECTED, logs = LINE}: Says = {}) => ({
  docker: `case "$1" in inspect) ${inspect} ;; logs) ${logs} ;; *) echo '{}' ;; esac`,
});
const journal = (cat: string) => ({
  journalctl: `case "$*" in --version) echo "systemd 252" ;; *) ${LINE} ;; esac`,
  systemctl: `case "$1" in cat) ${cat} ;; show) echo LoadState=loaded ;; esac`,
});

function collect(
  argv: readonly string[],
  tools: Readonly<Record<string, string>>,
  steps: Parameters<typeof onTerminal>[1] = [],
) {
  const cwd = mkdtempSync(join(tmpdir(), 'collect-'));
  const ran = onTerminal(['collect-logs', ...argv, '--out', 'x.zip'], steps, cwd, {
    env: {PATH: shims.path(tools), NO_COLOR: '1'},
  });
  return ran.then((seen) => ({...seen, cwd, file: join(cwd, 'x.zip')}));
}

test('counts files on one line that is redrawn on a terminal', async () => {
  const {screen, exit} = await collect(['--docker', 'agent'], docker());
  expect(exit, screen).toBe(0);
  const [, all = ''] = /\r\d+ of (\d+) files/.exec(screen) ?? [];
  const drawn = Array.from({length: Number(all)}, (_, at) => `\r${at + 1} of ${all} files`).join(
    '',
  );
  expect(screen).toContain(`${drawn}\r\n✓ x.zip: `);
  expect(screen).toContain(', 1 container, ');
  expect(screen).toMatch(/\r\nx\.zip\r\n$/);
});

test('counts the units of --journal', async () => {
  const {screen, exit} = await collect(['--journal'], journal('echo "[Unit]"'));
  expect(exit, screen).toBe(0);
  expect(screen).toContain(', 2 units, ');
});

test.each([
  ['--docker agent', docker({inspect: WAITS})],
  ['--journal', journal(WAITS)],
] as const)('writes nothing and exits with 130 on Ctrl-C while %s lists its sources', async (argv, tools) => {
  const {screen, exit, left, cwd} = await collect(argv.split(' '), tools, [
    {see: /it waits/, press: CTRL_C},
  ]);
  expect({exit, left}, screen).toEqual({exit: 130, left: 0});
  expect(screen).toContain('Interrupted. No bundle was written.');
  expect(readdirSync(cwd)).toEqual([]);
});

test('exits with 143 on SIGTERM', async () => {
  const steps = [{see: /it waits/, press: '', signal: 'SIGTERM' as const}];
  const {screen, exit, left} = await collect(
    ['--docker', 'agent'],
    docker({inspect: WAITS}),
    steps,
  );
  expect({exit, left}, screen).toEqual({exit: 143, left: 0});
  expect(screen).toContain('Interrupted. No bundle was written.');
});

test('keeps what was read when Ctrl-C comes during a log, and ends the progress line first', async () => {
  const steps = [{see: /it waits/, press: CTRL_C}];
  const {screen, exit, left, file} = await collect(
    ['--docker', 'agent'],
    docker({logs: `${LINE}; ${WAITS}`}),
    steps,
  );
  expect({exit, left}, screen).toEqual({exit: 130, left: 0});
  expect(screen).toMatch(/of \d+ files\r\n✓ x\.zip: /);
  expect(existsSync(file)).toBe(true);
  const {text, errors} = await unpack(file);
  expect(text('logs/docker/agent.log')).toContain('the agent is ready');
  expect(errors).toMatchObject([{what: 'logs/docker/agent.log'}]);
});
