import {spawnSync} from 'node:child_process';
import {mkdirSync, mkdtempSync, readdirSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {execa} from 'execa';
import {afterAll, expect, test} from 'vitest';
import {PROGRAM} from '../../package/built.ts';
import {hostShims} from '../../support/host-shims.ts';

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
/** The built PROGRAM, with a disk and limits that are the kernel's own; afterwards what lies there is copied away. */
async function collect({size, limit, lines}: Disk) {
  const [disk, kept] = ['disk', 'kept'].map((name) => join(folder, `${name}-${++count}`)) as [
    string,
    string,
  ];
  for (const each of [disk, kept]) mkdirSync(each);
  const script = `mount -t tmpfs -o size=${size ?? '100m'} tmpfs "$1" || exit 99
cd "$1"; (${limit === undefined ? '' : `ulimit -f ${limit};`} exec "$3" "$4" collect-logs --docker agent --out x.zip); status=$?
cp -a "$1/." "$2"; exit $status`;
  const argv = ['-rm', 'bash', '-c', script, 'bash', disk, kept, process.execPath, PROGRAM];
  const {exitCode, stdout, stderr} = await execa('unshare', argv, {
    reject: false,
    env: {PATH: shims.path({docker: docker(lines)})},
  });
  return {exitCode, stdout, stderr, files: readdirSync(kept)};
}

const canMount =
  spawnSync('unshare', ['-rm', 'mount', '-t', 'tmpfs', 'tmpfs', folder]).status === 0;

test.skipIf(!canMount).each([
  ['in the middle', '1m', 30_000],
  ['at the end', '4k', 100],
])(
  'reports the file and a next step when the disk becomes full %s, and leaves nothing behind',
  async (_, size, lines) => {
    const {exitCode, stdout, stderr, files} = await collect({size, lines});
    expect({exitCode, stdout, files}, stderr).toEqual({exitCode: 1, stdout: '', files: []});
    expect(stderr).toContain('Cannot write x.zip: no space left on device.');
    expect(stderr).toContain('Free disk space');
  },
);

test.skipIf(!canMount)(
  'a limit on the size of files is an error with its next step, and nothing is left',
  async () => {
    const {exitCode, stdout, stderr, files} = await collect({limit: 700, lines: 30_000});
    expect({exitCode, stdout, files}).toEqual({exitCode: 1, stdout: '', files: []});
    expect(stderr).toContain('Cannot write x.zip: file too large.');
    expect(stderr).toContain('ulimit -f');
  },
);
