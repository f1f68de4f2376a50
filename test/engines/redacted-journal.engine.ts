import {execFileSync, spawnSync} from 'node:child_process';
import {mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterEach, expect, onTestFinished, type TestContext, test, vi} from 'vitest';
import CollectLogs from '../../src/commands/collect-logs.ts';
import {hostTools} from '../../src/ground/system/host-tools.ts';
import {NodeFiles} from '../../src/ground/system/node-files.ts';
import {survivorsIn} from '../extensions/bundle/redact/corpus/cases.ts';
import {WRITTEN} from '../extensions/bundle/redact/corpus/written-lines.ts';
import {contentOf, hostShims} from '../support/host-shims.ts';
import {runCommand} from '../support/run-command.ts';
import {installed} from './tools.ts';

const JOURNALD = '/lib/systemd/systemd-journald';
const shims = hostShims();
afterEach(() => vi.unstubAllEnvs());

const LAST = 'Apply complete! Resources: 3 added, 0 changed, 0 destroyed.';
/** A journald of its own, which a service writes to as systemd connects it: what it is, then its lines. */
const SCRIPT = `set -e
mount -t tmpfs tmpfs /run && mount -t tmpfs tmpfs /var/log && mkdir /var/log/journal
${JOURNALD} agent 2>/dev/null &
journald=$!
trap 'kill $journald' EXIT
until test -S /run/systemd/journal.agent/stdout; do kill -0 $journald && sleep 0.1; done
# journald closes its half of the connection.
"$1" -e 'process.stdin.pipe(require("node:net").connect({path: "/run/systemd/journal.agent/stdout", allowHalfOpen: true}))' <"$2/lines.txt"
until journalctl --namespace agent --identifier scalr-agent --grep '^${LAST}' >/dev/null; do kill -0 $journald && sleep 0.1; done
cp -r /var/log/journal/*.agent "$2/journal"
`;
const HEADER = 'scalr-agent\nscalr-agent.service\n6\n0\n0\n0\n0\n';

/** The folder of a journal with these lines. */
async function journalOf(lines: string, context: TestContext): Promise<string> {
  await installed('journalctl', 'systemd', context);
  if (spawnSync('unshare', ['--mount', 'test', '-x', JOURNALD]).status !== 0)
    context.skip(`no ${JOURNALD}, or no right to create a mount namespace`);
  const directory = mkdtempSync(join(tmpdir(), 'journald-'));
  onTestFinished(() => rmSync(directory, {recursive: true, force: true}));
  writeFileSync(join(directory, 'lines.txt'), HEADER + lines);
  const shell = ['timeout', '60', 'sh', '-c', SCRIPT, 'sh', process.execPath, directory];
  execFileSync('unshare', ['--mount', ...shell]);
  return join(directory, 'journal');
}

/** Each line has a secret of its own, so that none is known from another line. No line of a journal has NUL. */
const LINES = Object.values(WRITTEN)
  .flat()
  .filter((line) => !line.includes('\0'))
  .map((line, index) => line.replaceAll('2026!»', `${1000 + index}!»`));
/** Digits alone can stand in a time. */
const SECRETS = LINES.flatMap((line) => line.match(/(?<=«)[^»]*[A-Za-z][^»]*(?=»)/g) ?? []).filter(
  (secret) => secret.length >= 8,
);

test.for([
  'standard',
  'strict',
])('secrets in the journal of a real journald stay out of a bundle: %s', async (level, context) => {
  const journal = await journalOf(`${LINES.join('').replace(/[«»]/g, '')}${LAST}\n`, context);
  vi.stubEnv(
    'PATH',
    shims.path({
      systemctl:
        'case "$*" in *docker*) echo LoadState=not-found ;; cat*) echo "[Service]" ;; *) echo LoadState=loaded ;; esac',
      // The unit of a process is that of its control group: here, of the tests.
      journalctl: `case "$1" in --unit) shift 2; set -- --identifier scalr-agent "$@" ;; esac
exec $(command -v -p journalctl) --directory ${journal} "$@"`,
    }),
  );
  const file = shims.zip();
  const {exit, stdout} = await runCommand(
    CollectLogs,
    ['--journal', '--json', '--redact', level, '--out', file],
    {host: hostTools, files: new NodeFiles(), now: () => new Date()},
  );
  expect(exit, stdout).toBe(0);
  const content = await contentOf(file);
  const log = content['logs/journal/scalr-agent.log'] ?? '';
  expect(log).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+\+0000 \S+ scalr-agent\[\d+\]: /);
  expect(log).toContain(LAST);
  expect(survivorsIn(Object.values(content).join('\n'), SECRETS)).toEqual([]);
});
