import {readdirSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {type FileShape, type Finding, measure} from './shape/measure.ts';

/**
 * `npm run shape`: fails if a room of `src/` has more tokens than budget.json allows, or if more places are hard to read.
 * `npm run shape -- bigFunctions` lists the places of one kind.
 */
interface Budget {
  /** Per room, a folder of `src/`. */
  tokens: Readonly<Record<string, number>>;
  /** Places in all of `src/`. */
  places: Readonly<Record<Finding, number>>;
}

interface Row {
  name: string;
  is: number;
  allowed: number;
}

const root = join(import.meta.dirname, '..');
const budget = JSON.parse(readFileSync(join(root, 'budget.json'), 'utf8')) as Budget;
const files = readdirSync(join(root, 'src'), {recursive: true, encoding: 'utf8'})
  .filter((file) => file.endsWith('.ts') && !file.endsWith('.d.ts'))
  .map((file) => ({room: file.split('/')[0] ?? '', shape: measure(join('src', file))}));

const sum = (shapes: readonly FileShape[], field: 'tokens' | 'codeLines'): number =>
  shapes.reduce((total, shape) => total + shape[field], 0);

const found = files.flatMap(({shape}) => shape.found);
const placesOf = (finding: string): string[] =>
  found.filter((each) => each.finding === finding).map(({at}) => at);

const rooms = [...new Set(files.map(({room}) => room))].toSorted();
const roomRows = rooms.map(
  (room): Row => ({
    name: `src/${room}`,
    is: sum(
      files.filter((file) => file.room === room).map(({shape}) => shape),
      'tokens',
    ),
    allowed: budget.tokens[room] ?? 0,
  }),
);
const placeRows = Object.entries(budget.places).map(
  ([name, allowed]): Row => ({name, is: placesOf(name).length, allowed}),
);

function show(rows: readonly Row[], unit: string): void {
  for (const {name, is, allowed} of rows) {
    const verdict = is > allowed ? ' - too many' : '';
    process.stdout.write(`${name.padEnd(20)} ${is} of ${allowed} ${unit}${verdict}\n`);
    if (is > allowed) process.exitCode = 1;
  }
}

const [wanted] = process.argv.slice(2);
if (wanted !== undefined) process.stdout.write(`${placesOf(wanted).join('\n')}\n`);
else {
  show(roomRows, 'tokens');
  show(placeRows, 'places');
  const shapes = files.map(({shape}) => shape);
  const tokens = sum(shapes, 'tokens');
  const perLine = (tokens / sum(shapes, 'codeLines')).toFixed(2);
  process.stdout.write(`${tokens} tokens, ${perLine} per line of code\n`);
}
