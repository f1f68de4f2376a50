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
  writeFileSync(path, `${JSON.stringify({date: new Date().toISOString(), machine: machine(), rounds, results}, null, 2)}\n`);
}

/** The same of the start as the table that README.md quotes. */
export function writeReadme(rounds: number): void {
  const path = join(ROOT, 'README.md');
  const {node, platform, cpu, cores} = machine();
  const rows = results
    .filter(({part, ratio}) => part === 'startup' && ratio !== 1)
    .map(({name, value, ratio = 0}) => `| \`${name}\` | ${ratio.toFixed(2)} × | ${value.toFixed(0)} ms |`);
  const table = [
    `Node.js ${node.slice(1)} on ${platform}, ${cores} × ${cpu}, ${new Date().toISOString().slice(0, 10)}, median of ${rounds} runs in turn:`,
    '',
    '| | as a multiple of `node -e 0` | |',
    '| --- | --- | --- |',
    ...rows,
  ];
  const readme = readFileSync(path, 'utf8');
  writeFileSync(path, readme.replace(/(<!-- bench -->\n)[\s\S]*?(<!-- benchstop -->)/, `$1${table.join('\n')}\n$2`));
}
