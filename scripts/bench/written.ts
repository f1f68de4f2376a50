import {readFileSync, writeFileSync} from 'node:fs';
import {cpus} from 'node:os';
import {join} from 'node:path';
import {ROOT} from '../../test/package/built.ts';
import {results} from './measure.ts';

const machine = () => ({
  node: process.version,
  platform: `${process.platform}-${process.arch}`,
  cpu: cpus()[0]?.model,
  cores: cpus().length,
});

/** What was measured, where and when. */
export function writeJson(path: string, rounds: number): void {
  writeFileSync(
    path,
    `${JSON.stringify({date: new Date().toISOString(), machine: machine(), rounds, results}, null, 2)}\n`,
  );
}

/** The same of the start as the table of docs/speed.md. */
export function writeSpeedPage(rounds: number): void {
  const path = join(ROOT, 'docs/speed.md');
  const {node, platform, cpu, cores} = machine();
  const rows = results
    .filter(({part, ratio}) => part === 'startup' && ratio !== 1)
    .map(
      ({name, value, ratio = 0}) =>
        `| \`${name}\` | ${ratio.toFixed(2)} × | ${value.toFixed(0)} ms |`,
    );
  const table = [
    `Node.js ${node.slice(1)} on ${platform}, ${cores} × ${cpu}, ${new Date().toISOString().slice(0, 10)}, median of ${rounds} interleaved runs:`,
    '',
    '| | Relative to `node -e 0` | |',
    '| --- | --- | --- |',
    ...rows,
  ];
  const page = readFileSync(path, 'utf8');
  writeFileSync(
    path,
    page.replace(/(<!-- bench -->\n)[\s\S]*?(<!-- benchstop -->)/, `$1${table.join('\n')}\n$2`),
  );
}
