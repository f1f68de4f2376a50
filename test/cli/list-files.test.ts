import {mkdtempSync, rmSync} from 'node:fs';
import {mkdir, symlink, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {dirname, join} from 'node:path';
import {execa} from 'execa';
import {afterEach, beforeEach, expect, test} from 'vitest';
import {readGiven} from '../../src/cli/list-files.ts';
import {hostTools} from '../../src/ground/system/host-tools.ts';
import {NodeFiles} from '../../src/ground/system/node-files.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'scalr-agent-tree-'));
});
afterEach(() => rmSync(folder, {recursive: true, force: true}));

async function write(...names: string[]): Promise<void> {
  for (const name of names) {
    await mkdir(dirname(join(folder, name)), {recursive: true});
    await writeFile(join(folder, name), name.endsWith('.gitignore') ? 'out/\n' : 'a: 1\n');
  }
}

const found = async (names = [folder], includesIgnored = false): Promise<string[]> =>
  (await readGiven(names, {files: new NodeFiles(), host: hostTools}, {includesIgnored})).map(
    ({file}) => file.replace(`${folder}/`, ''),
  );

const FILES = ['a.yaml', 'b/c.yml', 'b/main.tf', 'out/d.yaml', 'README.md', 'package-lock.json'];

test('lists the files of a repository that Git does not ignore, committed or not', async () => {
  await write(...FILES, '.gitignore');
  await execa('git', ['init', '--quiet'], {cwd: folder});
  await execa('git', ['add', 'a.yaml'], {cwd: folder});
  expect(await found()).toEqual(['a.yaml', 'b/c.yml', 'b/main.tf']);
  expect(await found([folder], true)).toEqual(['a.yaml', 'b/c.yml', 'b/main.tf', 'out/d.yaml']);
  expect(await found([join(folder, 'b')])).toEqual(['b/c.yml', 'b/main.tf']);
});

test('lists all files outside of a repository, except those of tools', async () => {
  await write(...FILES, 'node_modules/x/a.yaml', '.terraform/b.yaml');
  expect(await found()).toEqual(['a.yaml', 'b/c.yml', 'b/main.tf', 'out/d.yaml']);
});

test('reads each file once, and leaves out links to nothing', async () => {
  await write('a.yaml', 'b/c.yml');
  await symlink('missing.yaml', join(folder, 'link.yaml'));
  expect(await found([join(folder, 'a.yaml'), `${folder}/`])).toEqual(['a.yaml', 'b/c.yml']);
});

test('refuses given files that cannot be read, all in one message', async () => {
  await expect(found([join(folder, 'no.yaml'), join(folder, 'none.yaml')])).rejects.toThrow(
    /^Cannot read .*\nCannot read .*$/,
  );
});
