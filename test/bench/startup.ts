import {spawnSync} from 'node:child_process';
import {performance} from 'node:perf_hooks';

/** How long the program takes, as a multiple of what Node.js itself needs. Build first. `npm run bench [rounds]` */
const ROUNDS = Number(process.argv[2] ?? 15);
const PROGRAM = 'dist/bin/scalr-agent.js';

const SUBJECTS: Readonly<Record<string, readonly string[]>> = {
  'node -e 0': ['-e', '0'],
  '--version': [PROGRAM, '--version'],
  values: [PROGRAM, 'values', '--url', 'https://acme.scalr.io', '--chart', 'agent-job', '--cache', 'pvc'],
  recommend: [PROGRAM, 'recommend', '--isolation', 'per-run'],
};

function milliseconds(args: readonly string[]): number {
  const start = performance.now();
  const {status, stderr} = spawnSync(process.execPath, args, {encoding: 'utf8'});
  if (status !== 0) throw new Error(`${args.join(' ')} failed: ${stderr}`);
  return performance.now() - start;
}

const median = (numbers: readonly number[]): number =>
  numbers.toSorted((one, other) => one - other)[Math.floor(numbers.length / 2)] as number;

const times = Object.fromEntries(Object.keys(SUBJECTS).map((name): [string, number[]] => [name, []]));
for (let round = 0; round < ROUNDS; round += 1) {
  for (const [name, args] of Object.entries(SUBJECTS)) times[name]?.push(milliseconds(args));
}
const bare = median(times['node -e 0'] ?? []);
for (const [name, measured] of Object.entries(times)) {
  const middle = median(measured);
  process.stdout.write(`${name.padEnd(12)} ${middle.toFixed(0).padStart(5)} ms   ${(middle / bare).toFixed(2)} × bare node\n`);
}
