import {execFileSync, spawnSync} from 'node:child_process';
import {mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {gunzipSync} from 'node:zlib';
import {afterAll, afterEach, expect, test, vi} from 'vitest';
import CollectLogs from '../../../../src/commands/collect-logs.ts';
import {hostTools} from '../../../../src/ground/system/host-tools.ts';
import {NodeFiles} from '../../../../src/ground/system/node-files.ts';
import {contentOf, hostShims} from '../../../support/host-shims.ts';
import {runCommand} from '../../../support/run-command.ts';

const shims = hostShims();
const folder = mkdtempSync(join(tmpdir(), 'journal-'));
afterAll(() => rmSync(folder, {recursive: true, force: true}));
afterEach(() => vi.unstubAllEnvs());

/** A journal of two hours on a VM, as `systemd-journal-remote --output agent.journal agent.export` makes it of the text beside it. */
writeFileSync(
  join(folder, 'agent.journal'),
  gunzipSync(readFileSync(join(import.meta.dirname, 'journal/agent.journal.gz'))),
);
const hasJournalctl = spawnSync('journalctl', ['--version']).status === 0;
const journalctl = hasJournalctl
  ? execFileSync('sh', ['-c', 'command -v journalctl'], {encoding: 'utf8'}).trim()
  : '';

const UNIT = `[Service]
Environment=SCALR_TOKEN=inline-7Hq2LmX91bVw "HTTPS_PROXY=http://agent:pr0xy%%40Passw0rd@proxy.example.com:3128"`;
const systemctl = `case "$*" in
cat*) cat <<'END'
${UNIT}
END
;;
*) printf 'LoadState=loaded\\nActiveState=active\\n' ;;
esac`;

/** Everything as the real journalctl understands and says it; only which journal it reads is not the machine's. */
async function collect(directory: string, ...argv: string[]) {
  vi.stubEnv(
    'PATH',
    shims.path({systemctl, journalctl: `exec ${journalctl} --directory ${directory} "$@"`}),
  );
  const file = shims.zip();
  const now = () => new Date('2026-11-21T08:05:00Z');
  const {stdout, exit} = await runCommand(
    CollectLogs,
    ['--journal', '--json', '--out', file, ...argv],
    {
      host: hostTools,
      files: new NodeFiles(),
      now,
    },
  );
  return {exit, result: JSON.parse(stdout), content: await contentOf(file)};
}

test.skipIf(!hasJournalctl)(
  'what a real journalctl says of the agent is all there, and only that, without what is secret',
  async () => {
    const {exit, result, content} = await collect(folder);
    expect({exit, errors: result.errors}).toEqual({exit: 0, errors: []});
    const log = content['logs/journal/scalr-agent.log'] ?? '';
    expect(log).toMatch(
      /^2026-11-21T06:00:00\.000000\+0000 vm-1 scalr-agent\[700\]: from two hours ago\n/,
    );
    expect(log).toContain(
      '2026-11-21T08:00:00.000000+0000 vm-1 scalr-agent[812]: agent is ready to receive tasks\n',
    );
    // What systemd says of the unit is of the unit.
    expect(log).toContain(
      'systemd[1]: scalr-agent.service: Main process exited, code=exited, status=1/FAILURE\n',
    );
    expect(log).not.toContain('stranger');
    expect(content['logs/journal/scalr-docker.log']).toContain('dockerd[640]: API listen on');
    expect(JSON.stringify(content)).not.toMatch(/inline-7Hq2|pr0xy/);
  },
);

test.skipIf(!hasJournalctl)(
  'long tracebacks, colors, progress bars and bytes that are no text are not hidden',
  async () => {
    const {content} = await collect(folder);
    const log = content['logs/journal/scalr-agent.log'] ?? '';
    expect(log).toMatch(/line 0 of a long traceback\n( +line \d of a long traceback\n){7}/);
    expect(log).toContain('and what follows');
    expect(log).toContain('progress 10%\rprogress 20%');
    expect(log).not.toContain('blob data');
  },
);

test.skipIf(!hasJournalctl)('--since and --since-time count as they are meant', async () => {
  for (const window of [
    ['--since', '10m'],
    ['--since-time', '2026-11-21T07:55:00Z'],
  ]) {
    const {content} = await collect(folder, ...window);
    expect(content['logs/journal/scalr-agent.log']).toMatch(/^2026-11-21T08:00:00\.000000\+0000 /);
  }
});

test.skipIf(!hasJournalctl)('a machine that keeps no journal is told so', async () => {
  const empty = join(folder, 'empty');
  mkdirSync(empty);
  const {exit, result} = await collect(empty);
  expect(exit).toBe(7);
  expect(result.errors).toContainEqual(
    expect.objectContaining({
      subject: {object: 'logs/journal/scalr-agent.log'},
      kind: 'not-found',
      message: expect.stringContaining('journald.conf'),
    }),
  );
});
