import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {performance} from 'node:perf_hooks';
import {findHelm} from '../../test/cluster/helm/find-helm.ts';
import {findKubectl} from '../../test/control-plane/kubectl.ts';
import {PROGRAM} from '../../test/package/built.ts';
import {untilFirstQuestion} from './first-question.ts';
import {measure, median, row} from './measure.ts';

/** How long the program, helm and kubectl take to start, as a multiple of what Node.js itself needs. Build first. */
const FILE = 'test/golden/documents/agent-job-0.6.5-cache-pvc.yaml';
const VALUES = ['values', '--url', 'https://acme.scalr.io'];
const BARE = 'node -e 0';

type Subject = () => Promise<number> | number;

async function subjects(home: string): Promise<Readonly<Record<string, Subject>>> {
  const env = {...process.env, HOME: home, XDG_CACHE_HOME: home};
  const ours = (args: readonly string[]) => () =>
    measure(process.execPath, [PROGRAM, ...args], env);
  const {path: helm} = (await findHelm())[0] as {path: string};
  const kubectl = await findKubectl();
  return {
    [BARE]: () => measure(process.execPath, ['-e', '0']),
    '--version': ours(['--version']),
    '--help': ours(['--help']),
    values: ours(VALUES),
    'validate FILE': ours(['validate', FILE]),
    recommend: ours(['recommend', '--isolation', 'per-run']),
    'first question of the wizard': async () => {
      const start = performance.now();
      return (await untilFirstQuestion({HOME: home})) - start;
    },
    'helm version': () => measure(helm, ['version']),
    'kubectl version --client': () => measure(kubectl, ['version', '--client']),
  };
}

export async function startup(rounds: number): Promise<void> {
  const home = mkdtempSync(join(tmpdir(), 'scalr-agent-'));
  try {
    const all = Object.entries(await subjects(home));
    const times = new Map(all.map(([name]): [string, number[]] => [name, []]));
    // The first round is what an operator has behind them.
    for (let round = 0; round <= rounds; round += 1) {
      for (const [name, subject] of all) {
        const time = await subject();
        if (round > 0) times.get(name)?.push(time);
      }
    }
    const bare = median(times.get(BARE) ?? []);
    for (const [name, measured] of times) row('startup', name, median(measured), bare, 'bare node');
  } finally {
    rmSync(home, {recursive: true, force: true});
  }
}
