import {parseArgs, styleText} from 'node:util';
import * as adapter from './adapter.ts';
import {independentOrdinary} from './ordinary.ts';
import {independentSecrets, type SecretEntry} from './secrets.ts';

type Redact = (text: string) => Promise<string> | string;

interface OrdinaryEntry {
  source: string;
  text: string;
  confusable: boolean;
}

/** npx tsx measure.cli.ts [standard|strict] [--seed 1] [--leaks CLASS|all] [--limits] [--changes SOURCE|all] */
const {values, positionals} = parseArgs({
  allowPositionals: true,
  options: {
    seed: {type: 'string', default: '1'},
    leaks: {type: 'string'},
    changes: {type: 'string'},
    limits: {type: 'boolean'},
  },
});

const print = (text: string): void => void process.stdout.write(`${text}\n`);
const share = (part: number, all: number): string =>
  all ? `${part} (${((100 * part) / all).toFixed(1)} %)` : '-';

function table(rows: readonly (readonly string[])[]): void {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  for (const [index, row] of rows.entries()) {
    print(
      `| ${row.map((cell, column) => (column ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0))).join(' | ')} |`,
    );
    if (index === 0) print(`| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`);
  }
  print('');
}

/** Without the escapes of JSON, so that a redactor may write them in another way. */
const bare = (text: string): string =>
  text
    .replace(/\\+u00([0-9a-f]{2})/gi, (_, code: string) =>
      String.fromCharCode(Number.parseInt(code, 16)),
    )
    .replace(/\\+(?=["\\/])/g, '');

/** Whether at least half of a secret is left in one piece. */
function halfLeft(secret: string, output: string): boolean {
  const length = Math.max(8, Math.ceil(secret.length / 2));
  for (let start = 0; start + length <= secret.length; start += 1)
    if (output.includes(secret.slice(start, start + length))) return true;
  return false;
}

interface Judged extends SecretEntry {
  output: string;
  leaked: string[];
  half: boolean;
}

async function judge(redact: Redact): Promise<Judged[]> {
  const judged: Judged[] = [];
  for (const entry of independentSecrets(Number(values.seed))) {
    const output = await redact(entry.text);
    const leaked = entry.secrets.filter(
      (secret) => output.includes(secret) || bare(output).includes(bare(secret)),
    );
    judged.push({
      ...entry,
      output,
      leaked,
      half: leaked.length > 0 || entry.secrets.some((secret) => halfLeft(secret, output)),
    });
  }
  return judged;
}

function groups<T>(all: readonly T[], key: (each: T) => string): [string, T[]][] {
  const found = new Map<string, T[]>();
  for (const each of all) found.set(key(each), [...(found.get(key(each)) ?? []), each]);
  return [...found, ['all', [...all]]];
}

function leaks(judged: readonly Judged[], heading: string, key: (each: Judged) => string): void {
  const rows = groups(judged, key).map(([name, each]) => {
    const known = each.filter(({limit}) => !limit);
    const leaking = (some: readonly Judged[]): number =>
      some.filter(({leaked}) => leaked.length).length;
    return [
      name,
      String(each.length),
      share(leaking(each), each.length),
      String(known.length),
      share(leaking(known), known.length),
      share(known.filter(({half}) => half).length, known.length),
    ];
  });
  table([
    [heading, 'lines', 'leaked', 'lines without limits', 'leaked', 'half of it or all'],
    ...rows,
  ]);
}

function shapes(judged: readonly Judged[]): void {
  const each = groups(judged, (entry) => `${entry.class} ${entry.shape}`)
    .slice(0, -1)
    .map(([, entries]) => entries);
  const count = (some: readonly Judged[][], test: 'some' | 'every'): string =>
    share(some.filter((entries) => entries[test](({leaked}) => leaked.length)).length, some.length);
  const known = each.filter(([first]) => !first?.limit);
  table([
    ['shapes', 'number', 'leaked in some wrapper', 'in every wrapper'],
    ['all', String(each.length), count(each, 'some'), count(each, 'every')],
    ['without limits', String(known.length), count(known, 'some'), count(known, 'every')],
  ]);
}

async function ordinary(redact: Redact): Promise<void> {
  const judged: (OrdinaryEntry & {output: string})[] = [];
  for (const entry of independentOrdinary())
    judged.push({...entry, output: await redact(entry.text)});
  const changed = (some: typeof judged): string =>
    share(some.filter(({text, output}) => text !== output).length, some.length);
  const rows = groups(judged, ({source}) => source).map(([name, each]) => {
    const plain = each.filter(({confusable}) => !confusable);
    const confusable = each.filter((entry) => entry.confusable);
    return [name, String(each.length), changed(each), changed(plain), changed(confusable)];
  });
  table([['ordinary lines', 'lines', 'changed', 'not confusable', 'confusable'], ...rows]);
  for (const {source, text, output} of judged)
    if (text !== output && (values.changes === 'all' || values.changes === source))
      print(`${source}\n- ${text}\n+ ${output}\n`);
}

const only = positionals[0];
for (const [name, redact] of Object.entries(adapter)) {
  if (only !== undefined && only !== name) continue;
  print(styleText('bold', `${name}, seed ${values.seed}\n`));
  const judged = await judge(redact);
  leaks(judged, 'class', (entry) => entry.class);
  leaks(judged, 'wrapper', ({wrapper}) => wrapper);
  shapes(judged);
  for (const {class: kind, wrapper, text, output, leaked, limit} of judged)
    if (
      leaked.length &&
      (values.limits || !limit) &&
      (values.leaks === 'all' || values.leaks === kind)
    )
      print(`${kind}, ${wrapper}: ${leaked[0]}\n- ${text}\n+ ${output}\n`);
  await ordinary(redact);
}
