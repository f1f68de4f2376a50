import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {inflateRawSync} from 'node:zlib';
import {expect} from 'vitest';
import type {Workplace} from '../control-plane/workplace.ts';
import {violations} from './output-schema.ts';
import {collectLogs} from './run-on-cluster.ts';
import {readZip} from './unzip.ts';

const scratch = mkdtempSync(join(tmpdir(), 'scalr-agent-'));
process.once('exit', () => rmSync(scratch, {recursive: true, force: true}));

let count = 0;
/** Path of a file that does not exist yet. */
export const freshFile = (): string => join(scratch, `${++count}.zip`);

/** The page with what its blocks hold, and without its program. */
const decoded = (page: string): string =>
  page
    .replaceAll(/<(script|style)>.*?<\/\1>/gs, '')
    .replaceAll(
      /(;base64" id="\w+">)([\w+/=]*)/g,
      (_, head: string, block: string) => head + inflateRawSync(Buffer.from(block, 'base64')),
    );

/** Files of a bundle and the content of its errors.json. Checks the manifest without code of the program. */
export async function unpack(file: string) {
  const sorted = [...(await readZip(file))].toSorted(([one], [other]) => (one < other ? -1 : 1));
  const files = new Map(sorted.map(([name, content]) => [name, content.toString('utf8')]));
  const text = (name: string): string => files.get(name) ?? '';
  const {entries} = JSON.parse(text('manifest.json')) as {entries: {name: string; bytes: number}[]};
  expect(entries.map(({name, bytes}) => `${name} ${bytes}`)).toEqual(
    [...files.keys()]
      .filter((name) => name !== 'manifest.json')
      .map((name) => `${name} ${Buffer.byteLength(text(name))}`),
  );
  files.set('report.html', decoded(text('report.html')));
  const gaps = JSON.parse(text('errors.json')) as {
    subject: {object: string};
    kind: string;
    message: string;
    isMinor: boolean;
  }[];
  return {
    names: [...files.keys()],
    text,
    all: [...files].map(([name, content]) => `${name}\n${content}`).join('\n'),
    errors: gaps.map(({subject, kind, message, isMinor}) => ({
      what: subject.object,
      kind,
      message,
      isMinor,
    })),
  };
}

/** Result, exit code and files of the bundle. */
export async function collected(
  kubeTarget: Pick<Workplace, 'kubeconfig' | 'namespace'>,
  helm: string,
  argv: readonly string[] = [],
  deps: Parameters<typeof collectLogs>[3] = {},
) {
  const start = Date.now();
  const out = freshFile();
  const {stdout, stderr, exit} = await collectLogs(
    kubeTarget,
    helm,
    ['--json', '--out', out, ...argv],
    deps,
  );
  expect(violations('collect-logs', stdout), stdout + stderr).toEqual([]);
  return {
    result: JSON.parse(stdout),
    exit,
    stderr,
    seconds: (Date.now() - start) / 1000,
    ...(await unpack(out)),
  };
}
