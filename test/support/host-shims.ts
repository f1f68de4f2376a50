import {chmodSync, mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterAll} from 'vitest';
import {zipArchives} from '../../src/ground/system/zip-archive.ts';

/** Docker gets the engine before the subcommand, which the scripts distinguish. */
export const WITHOUT_ENGINE = 'case "$1" in --context|--host) shift 2 ;; esac';

/** A directory for PATH with shims that print recorded output; `case "$*"` in the scripts distinguishes the calls. */
export function hostShims() {
  const folder = mkdtempSync(join(tmpdir(), 'host-'));
  afterAll(() => rmSync(folder, {recursive: true, force: true}));
  let made = 0;
  const fresh = (): string => {
    made += 1;
    return join(folder, String(made));
  };
  return {
    zip: () => `${fresh()}.zip`,
    /** The shims, followed by the tools of the system. */
    path(tools: Readonly<Record<string, string>>): string {
      const directory = mkdtempSync(`${fresh()}-`);
      for (const [tool, script] of Object.entries(tools)) {
        writeFileSync(join(directory, tool), `#!/bin/sh\n${WITHOUT_ENGINE}\n${script}\n`);
        chmodSync(join(directory, tool), 0o755);
      }
      return `${directory}:${process.env['PATH']}`;
    },
    /** An empty directory. */
    empty: () => mkdtempSync(`${fresh()}-`),
  };
}

/** Files of a bundle by name. */
export async function contentOf(path: string): Promise<Record<string, string>> {
  const archive = await zipArchives.open(path);
  const content: Record<string, string> = {};
  for (const name of archive.entries.map((entry) => entry.name).toSorted()) {
    const chunks: Buffer[] = [];
    for await (const chunk of archive.read(name)) chunks.push(chunk);
    content[name] = Buffer.concat(chunks).toString('utf8');
  }
  archive.close();
  return content;
}
