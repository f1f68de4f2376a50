import {writeFileSync} from 'node:fs';
import {cpus} from 'node:os';
import {parseArgs} from 'node:util';
import {manyFiles} from './many-files.ts';
import {manyLogs} from './many-logs.ts';
import {results} from './measure.ts';
import {memory} from './memory.ts';
import {redaction} from './redaction.ts';
import {startup} from './startup.ts';

const PARTS: Readonly<Record<string, (rounds: number) => Promise<void>>> = {
  startup,
  'many-files': (rounds) => manyFiles(Math.ceil(rounds / 5)),
  memory,
  'many-logs': (rounds) => manyLogs(Math.ceil(rounds / 5)),
  redaction: (rounds) => redaction(Math.ceil(rounds / 3)),
};

/** `npm run bench -- [PART...] [--rounds N] [--json FILE]`: everything, or some parts of it. */
const {values, positionals} = parseArgs({
  allowPositionals: true,
  options: {rounds: {type: 'string', default: '15'}, json: {type: 'string'}},
});
const unknown = positionals.filter((name) => PARTS[name] === undefined);
if (unknown.length > 0) throw new Error(`There is no part ${unknown.join(', ')}; there are ${Object.keys(PARTS).join(', ')}.`);
for (const [name, part] of Object.entries(PARTS)) {
  if (positionals.length === 0 || positionals.includes(name)) await part(Number(values.rounds));
}
if (values.json !== undefined) {
  const machine = {node: process.version, platform: `${process.platform}-${process.arch}`, cpu: cpus()[0]?.model, cores: cpus().length};
  writeFileSync(
    values.json,
    `${JSON.stringify({date: new Date().toISOString(), machine, rounds: Number(values.rounds), results}, null, 2)}\n`,
  );
}
