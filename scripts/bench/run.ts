import {parseArgs} from 'node:util';
import {clusterCommands} from './cluster-commands.ts';
import {manyFiles} from './many-files.ts';
import {manyLogs} from './many-logs.ts';
import {memory} from './memory.ts';
import {redaction} from './redaction.ts';
import {startup} from './startup.ts';
import {wholeBundle} from './whole-bundle.ts';
import {writeJson, writeSpeedPage} from './written.ts';

const PARTS: Readonly<Record<string, (rounds: number) => Promise<void>>> = {
  startup,
  'many-files': (rounds) => manyFiles(Math.ceil(rounds / 5)),
  'cluster-commands': (rounds) => clusterCommands(Math.ceil(rounds / 3)),
  memory,
  'many-logs': (rounds) => manyLogs(Math.ceil(rounds / 5)),
  redaction: (rounds) => redaction(Math.ceil(rounds / 3)),
  'whole-bundle': (rounds) => wholeBundle(Math.ceil(rounds / 3)),
};

/** `npm run bench -- [PART...] [--rounds N] [--json FILE] [--write]`: everything, or some parts of it. */
const {values, positionals} = parseArgs({
  allowPositionals: true,
  options: {
    rounds: {type: 'string', default: '15'},
    json: {type: 'string'},
    write: {type: 'boolean'},
  },
});
const rounds = Number(values.rounds);
const unknown = positionals.filter((name) => PARTS[name] === undefined);
if (unknown.length > 0)
  throw new Error(
    `There is no part ${unknown.join(', ')}; there are ${Object.keys(PARTS).join(', ')}.`,
  );
for (const [name, part] of Object.entries(PARTS)) {
  if (positionals.length === 0 || positionals.includes(name)) await part(rounds);
}
if (values.json !== undefined) writeJson(values.json, rounds);
if (values.write) writeSpeedPage(rounds);
