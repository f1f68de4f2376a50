import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {performance} from 'node:perf_hooks';
import {findHelm} from '../../test/cluster/helm/find-helm.ts';
import {findKubectl} from '../../test/control-plane/kubectl.ts';
import {PROGRAM} from '../../test/package/built.ts';
import {NODE_RELEASES, nodeRelease} from '../../test/support/node-releases.ts';
import {untilFirstQuestion} from './first-question.ts';
import {measure, median, report, row} from './measure.ts';

const FILE = 'test/golden/documents/agent-job-0.6.5-cache-pvc.yaml';
const VALUES = ['values', '--url', 'https://acme.scalr.io'];
const BARE = 'node -e 0';

type Subject = () => Promise<number> | number;

function subjects(node: string, home: string): Readonly<Record<string, Subject>> {
  const env = {...process.env, HOME: home, XDG_CACHE_HOME: home};
  const ours = (args: readonly string[]) => () => measure(node, [PROGRAM, ...args], env);
  return {
    [BARE]: () => measure(node, ['-e', '0']),
    '--version': ours(['--version']),
    '--help': ours(['--help']),
    values: ours(VALUES),
    'validate FILE': ours(['validate', FILE]),
    recommend: ours(['recommend', '--isolation', 'per-run']),
    'first question of the wizard': async () => {
      const start = performance.now();
      return (await untilFirstQuestion({HOME: home}, node)) - start;
    },
  };
}

async function otherTools(): Promise<Readonly<Record<string, Subject>>> {
  const {path: helm} = (await findHelm())[0] as {path: string};
  const kubectl = await findKubectl();
  return {
    'helm version': () => measure(helm, ['version']),
    'kubectl version --client': () => measure(kubectl, ['version', '--client']),
  };
}

/** Times of one version of Node.js, or of other tools. */
interface Group {
  name: string;
  subjects: readonly (readonly [name: string, subject: Subject])[];
  times: Map<string, number[]>;
}

const group = (name: string, all: Readonly<Record<string, Subject>>): Group => ({
  name,
  subjects: Object.entries(all),
  times: new Map(Object.keys(all).map((each) => [each, []])),
});

/** How long the program takes to start with the supported versions of Node.js, and helm and kubectl beside it. Build first. */
export async function startup(rounds: number): Promise<void> {
  const home = mkdtempSync(join(tmpdir(), 'scalr-agent-'));
  try {
    const groups = [group('other tools', await otherTools())];
    for (const version of NODE_RELEASES)
      groups.push(group(`Node.js ${version}`, subjects(await nodeRelease(version), home)));
    // The first round is what an operator has behind them.
    for (let round = 0; round <= rounds; round += 1)
      for (const each of groups) await measureAll(each, round > 0);
    for (const each of groups) tell(each);
  } finally {
    rmSync(home, {recursive: true, force: true});
  }
}

async function measureAll({subjects: all, times}: Group, isCounted: boolean): Promise<void> {
  for (const [name, subject] of all) {
    const time = await subject();
    if (isCounted) times.get(name)?.push(time);
  }
}

function tell({name, times}: Group): void {
  const bare = times.get(BARE);
  const part = `startup, ${name}`;
  process.stdout.write(`${name}\n`);
  for (const [subject, measured] of times) {
    if (bare === undefined) report({part, name: subject, value: median(measured), unit: 'ms'});
    else row(part, subject, median(measured), median(bare), 'bare node');
  }
}
