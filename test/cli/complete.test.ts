import {chmodSync, mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {execa} from 'execa';
import {afterAll, expect, test} from 'vitest';

const program = fileURLToPath(new URL('../../dist/bin/scalr-agent.js', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'scalr-agent-'));
afterAll(() => rmSync(folder, {recursive: true, force: true}));

test.each([
  ['takes two seconds, as with a login plugin, is waited for', 'sleep 2; echo namespace/payments', 'payments'],
  ['hangs is not', 'echo namespace/half; sleep 60', undefined],
])('a kubectl that %s', async (_how, script, offered) => {
  const kubectl = join(folder, 'kubectl');
  writeFileSync(kubectl, `#!/bin/sh\n${script}\n`);
  chmodSync(kubectl, 0o755);
  const {stdout} = await execa(process.execPath, [program, '__complete', 'fish', 'status', '--kubectl', kubectl, '--namespace', '']);
  expect(stdout.split('\n').slice(2)[0]?.trim() || undefined).toBe(offered);
});
