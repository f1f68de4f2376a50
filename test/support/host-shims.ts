import {chmodSync, mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterAll} from 'vitest';
import {zipArchives} from '../../src/adapters/zip-archive.ts';

/** A directory for PATH with tools that say what the real ones say; `case "$*"` in the scripts tells the calls apart. */
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
    /** Each tool with its script, and the tools of the system behind them. */
    path(tools: Readonly<Record<string, string>>): string {
      const directory = mkdtempSync(`${fresh()}-`);
      for (const [tool, script] of Object.entries(tools)) {
        writeFileSync(join(directory, tool), `#!/bin/sh\n${script}\n`);
        chmodSync(join(directory, tool), 0o755);
      }
      return `${directory}:${process.env['PATH']}`;
    },
    /** With nothing else on it. */
    empty: () => mkdtempSync(`${fresh()}-`),
  };
}

/** All that is in a bundle, by name. */
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
