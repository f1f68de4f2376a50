import {spawnSync} from 'node:child_process';
import {mkdirSync, mkdtempSync, readdirSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {execa} from 'execa';
import {afterAll, expect, test} from 'vitest';
import {PROGRAM} from '../package/built.ts';
import {unpack} from '../support/collected.ts';
import {hostShims} from '../support/host-shims.ts';

const shims = hostShims();
const folder = mkdtempSync(join(tmpdir(), 'disk-'));
afterAll(() => rmSync(folder, {recursive: true, force: true}));

/** Numbers do not pack well: some three bytes of every seven are left. */
const docker = (lines: number): string => `case "$1" in
inspect) echo '[{"Name": "/agent", "State": {"Running": true}, "Config": {"Env": []}}]' ;;
logs) awk 'BEGIN { srand(1); for (i = 0; i < ${lines}; i++) { printf "2026-11-21T08:00:00Z"; for (j = 0; j < 16; j++) printf " %06d", rand() * 1e6; print "" } }' ;;
*) echo '{}' ;;
esac`;

interface Disk {
  /** Of a disk of its own. */
  size?: string;
  /** KiB that any file may have. */
  limit?: number;
  lines: number;
}

let count = 0;
/** The built program, with a disk and limits that are the kernel's own; afterwards what lies there is copied away. */
async function collect({size, limit, lines}: Disk) {
  const [disk, kept] = ['disk', 'kept'].map((name) => join(folder, `${name}-${++count}`)) as [string, string];
  for (const each of [disk, kept]) mkdirSync(each);
  const script = `mount -t tmpfs -o size=${size ?? '100m'} tmpfs "$1" || exit 99
cd "$1"; (${limit === undefined ? '' : `ulimit -f ${limit};`} exec "$3" "$4" collect-logs --docker agent --out x.zip); status=$?
cp -a "$1/." "$2"; exit $status`;
  const argv = ['-rm', 'bash', '-c', script, 'bash', disk, kept, process.execPath, PROGRAM];
  const {exitCode, stdout, stderr} = await execa('unshare', argv, {reject: false, env: {PATH: shims.path({docker: docker(lines)})}});
  return {exitCode, stdout, stderr, files: readdirSync(kept), zip: join(kept, 'x.zip')};
}

const canMount = spawnSync('unshare', ['-rm', 'mount', '-t', 'tmpfs', 'tmpfs', folder]).status === 0;

test.skipIf(!canMount)('what fits onto a disk that becomes full is a whole bundle, and what does not is said', async () => {
  const {exitCode, stderr, files, zip} = await collect({size: '4m', lines: 100_000});
  expect(exitCode, stderr).toBe(7);
  expect(files).toEqual(['x.zip']);
  expect(stderr).toContain('the disk is full');
  const {errors, text} = await unpack(zip);
  expect(errors).toMatchObject([{what: 'logs/docker/agent.log', kind: 'no-room'}]);
  expect(text('SUMMARY.md')).toContain('- logs/docker/agent.log: Cannot write x.zip: the disk is full.');
  expect(text('logs/docker/agent.log').length).toBeGreaterThan(500_000);
});

test.skipIf(!canMount)('a disk that is full from the beginning: the file and the next step are named, and nothing is left', async () => {
  const {exitCode, stdout, stderr, files} = await collect({size: '1m', lines: 10});
  expect({exitCode, stdout, files}).toEqual({exitCode: 1, stdout: '', files: []});
  expect(stderr).toContain('Cannot write x.zip: the disk is full.');
  expect(stderr).toContain('Make room there');
});

test.skipIf(!canMount)('a limit on the size of files is an error with its next step, and nothing is left', async () => {
  const {exitCode, stdout, stderr, files} = await collect({limit: 3000, lines: 100_000});
  expect({exitCode, stdout, files}).toEqual({exitCode: 1, stdout: '', files: []});
  expect(stderr).toContain('Cannot write x.zip: no file may become that large here.');
  expect(stderr).toContain('ulimit -f');
});
