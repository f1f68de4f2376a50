import {chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {execa} from 'execa';
import {onTestFinished} from 'vitest';
import {findHelm} from '../cluster/helm/find-helm.ts';
import {findKubectl} from '../control-plane/kubectl.ts';
import {PROGRAM} from '../package/built.ts';

/** A directory to work in, and one for PATH with the tools a recipe takes for granted. */
export async function workshop(tools: Readonly<Record<string, string>> = {}, wantedHelm?: string) {
  const folder = mkdtempSync(join(tmpdir(), 'recipe-'));
  onTestFinished(() => rmSync(folder, {recursive: true, force: true}));
  const bin = join(folder, 'bin');
  const cwd = join(folder, 'work');
  for (const each of [bin, cwd]) mkdirSync(each);
  const helm = wantedHelm ?? (await findHelm())[0]?.path ?? 'helm';
  for (const [tool, path] of Object.entries({helm, kubectl: await findKubectl()})) {
    // A script and not a link: who wrote to a link would write to the program that all tests share.
    put(bin, tool, `exec '${(await execa('sh', ['-c', 'command -v "$0"', path])).stdout}' "$@"`);
  }
  for (const [tool, script] of Object.entries(tools)) put(bin, tool, script);
  const env = {
    PATH: `${bin}:${process.env['PATH']}`,
    CI: 'true',
    NO_COLOR: '1',
    npm_config_prefix: join(folder, 'npm'),
  };
  return {
    cwd,
    env,
    bin,
    folder,
    write: (name: string, text: string) => writeFileSync(join(cwd, name), text),
  };
}

function put(folder: string, name: string, script: string): void {
  writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`, {flag: 'wx'});
  chmodSync(join(folder, name), 0o755);
}

/** The program that was built. */
export const BUILT = {'scalr-agent': `exec '${process.execPath}' '${PROGRAM}' "$@"`};
