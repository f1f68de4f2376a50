import {mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterAll} from 'vitest';

/** A script that runs until it is removed, after the tests. */
export const HANGS = 'while [ -e "$0" ]; do sleep 0.2; done';

/** A temporary directory with scripts that replace helm and kubectl. */
export function ownTools() {
  const folder = mkdtempSync(join(tmpdir(), 'scalr-agent-'));
  afterAll(() => rmSync(folder, {recursive: true, force: true}));
  let made = 0;
  return {
    folder,
    /** Path of a tool that runs this script. */
    tool(script: string): string {
      made += 1;
      const path = join(folder, `tool-${made}`);
      writeFileSync(path, `#!/bin/sh\n${script}\n`, {mode: 0o755});
      return path;
    },
  };
}
