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

/** The same of the start as the table of docs/speed.md: milliseconds over a bare Node.js, and the ratio to it. */
export function writeSpeedPage(rounds: number): void {
  const path = join(ROOT, 'docs/speed.md');
  const {platform, cpu, cores} = machine();
  const parts = [...new Set(results.map(({part}) => part))].filter((part) =>
    part.startsWith('startup, '),
  );
  const cellOf = (part: string, subject: string): string => {
    const found = results.find((each) => each.part === part && each.name === subject);
    if (found === undefined) return '';
    const {value, ratio} = found;
    if (ratio === undefined || ratio === 1) return `${value.toFixed(0)} ms`;
    return `+ ${(value - value / ratio).toFixed(0)} ms, ${ratio.toFixed(2)} ×`;
  };
  const subjects = new Set(results.flatMap(({part, name}) => (parts.includes(part) ? [name] : [])));
  const table = [
    `${platform}, ${cores} × ${cpu}, ${new Date().toISOString().slice(0, 10)}, least CPU time of ${rounds} interleaved runs, over a bare start:`,
    '',
    `| | ${parts.map((part) => part.slice('startup, '.length)).join(' | ')} |`,
    `| --- |${parts.map(() => ' --- |').join('')}`,
    ...[...subjects].map(
      (subject) => `| \`${subject}\` | ${parts.map((part) => cellOf(part, subject)).join(' | ')} |`,
    ),
  ];
  const page = readFileSync(path, 'utf8');
  writeFileSync(
    path,
    page.replace(/(<!-- bench -->\n)[\s\S]*?(<!-- benchstop -->)/, `$1${table.join('\n')}\n$2`),
  );
}
