import {chmodSync, mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterAll, expect, test} from 'vitest';
import type {CheckDocument} from '../../src/checks/preflight/checks/check.ts';
import {findHelm} from '../cluster/helm/find-helm.ts';
import {findKubectl} from '../control-plane/kubectl.ts';
import {chartFlags, installPlace, TOKEN} from '../support/install-place.ts';
import {install, preflight, status} from '../support/run-on-cluster.ts';

const scratch = mkdtempSync(join(tmpdir(), 'scalr-agent-'));
afterAll(() => rmSync(scratch, {recursive: true, force: true}));
const [{path: helm} = {path: 'helm'}] = await findHelm();

/** A shell script that does something before it becomes the tool. */
function wrapper(name: string, tool: string, before: string): string {
  const path = join(scratch, name);
  writeFileSync(path, `#!/bin/sh\n${before}\nexec '${tool}' "$@"\n`);
  chmodSync(path, 0o755);
  return path;
}

const CHATTY = 'echo "wrapper: using the tools of the team"; echo "wrapper: ready" >&2';

test('works with tools that print lines before their output', async () => {
  const place = await installPlace();
  const tools = ['--kubectl', wrapper('kubectl', await findKubectl(), CHATTY)];
  const chatty = wrapper('helm', helm, CHATTY);
  const agent = [...(await chartFlags('agent-local')), ...tools];
  const checked = await preflight(place, chatty, [...agent, '--json'], {env: TOKEN});
  const {checks} = JSON.parse(checked.stdout) as {checks: CheckDocument[]};
  const failed = checks.filter((each) => each.status === 'fail');
  expect(failed, checked.stderr).toEqual([]);
  const installed = await install(place, chatty, [...agent, '--yes'], {env: TOKEN});
  expect(installed.exit, installed.stderr).toBe(0);
  const shown = await status(place, chatty, [...tools, '--json'], {});
  expect(JSON.parse(shown.stdout)).toMatchObject({state: 'ready'});
});

test('takes oc for kubectl, and does not compare its version', async () => {
  const place = await installPlace();
  const oc = `[ "$1" = version ] && echo '{"clientVersion": {"gitVersion": "4.20.0-202510"}, "releaseClientVersion": "4.20.1"}' && exit`;
  const tools = ['--kubectl', wrapper('oc', await findKubectl(), oc)];
  const agent = [...(await chartFlags('agent-local')), ...tools];
  const checked = await preflight(place, helm, [...agent, '--json'], {env: TOKEN});
  const {checks} = JSON.parse(checked.stdout) as {checks: CheckDocument[]};
  expect(checks.find(({id}) => id === 'kubectl-version')).toMatchObject({
    status: 'pass',
    message: expect.stringMatching(/^oc 4\.20\.0, API server v?1\./),
  });
});
