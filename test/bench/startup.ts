import {measure, median, PROGRAM, row} from './measure.ts';

/** How long the program takes, as a multiple of what Node.js itself needs. Build first. */
const VALUES = 'test/golden/agent-job-0.6.5-cache-pvc/values.yaml';

const SUBJECTS: Readonly<Record<string, readonly string[]>> = {
  'node -e 0': ['-e', '0'],
  '--version': [PROGRAM, '--version'],
  values: [PROGRAM, 'values', '--url', 'https://acme.scalr.io', '--chart', 'agent-job', '--cache', 'pvc'],
  recommend: [PROGRAM, 'recommend', '--isolation', 'per-run'],
  'validate FILE': [PROGRAM, 'validate', VALUES],
};

export function startup(rounds: number): void {
  const times = Object.fromEntries(Object.keys(SUBJECTS).map((name): [string, number[]] => [name, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, args] of Object.entries(SUBJECTS)) times[name]?.push(measure(process.execPath, args));
  }
  const bare = median(times['node -e 0'] ?? []);
  for (const [name, measured] of Object.entries(times)) row(name, median(measured), bare, 'bare node');
}
