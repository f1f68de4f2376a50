import {mkdtempSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {execa} from 'execa';
import {expect, test} from 'vitest';
import {PROGRAM} from '../package/built.ts';

test.skipIf(process.platform === 'win32')(
  'a current directory that was removed is no bug',
  async () => {
    const gone = mkdtempSync(join(tmpdir(), 'gone-'));
    const script = 'cd "$1" && rmdir "$1" && exec "$2" "$3" status';
    const {exitCode, stderr} = await execa(
      'sh',
      ['-c', script, 'sh', gone, process.execPath, PROGRAM],
      {reject: false},
    );
    expect(stderr).toContain('Error: The current directory no longer exists.');
    expect(exitCode).toBe(2);
  },
);
