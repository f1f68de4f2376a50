import {spawnSync} from 'node:child_process';
import {mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {findHelm} from '../../test/cluster/helm/find-helm.ts';
import {findKubectl} from '../../test/control-plane/kubectl.ts';
import {PROGRAM} from '../../test/package/built.ts';
import {NODE_RELEASES, nodeRelease} from '../../test/support/node-releases.ts';
import {untilFirstQuestion} from './first-question.ts';
import {report, row} from './measure.ts';

const FILE = 'test/golden/documents/agent-job-0.6.5-cache-pvc.yaml';
const VALUES = ['values', '--url', 'https://acme.scalr.io'];
const BARE = 'node -e 0';

type Subject = () => Promise<number> | number;

/** Writes the time of the processor that its arguments take, which other work on the machine hardly changes. */
class Timer {
  readonly script: string;
  readonly #times: string;

  constructor(folder: string) {
    this.script = join(folder, 'timed');
    this.#times = join(folder, 'times');
    const text = `#!/bin/bash\n"$@"\nstatus=$?\ntimes >'${this.#times}'\nexit $status\n`;
    writeFileSync(this.script, text, {mode: 0o755});
  }

  measure(command: readonly string[], env: NodeJS.ProcessEnv = process.env): number {
    const {status, stderr} = spawnSync(this.script, command, {encoding: 'utf8', env});
    if (status !== 0) throw new Error(`${command.join(' ')} failed: ${stderr}`);
    return this.last();
  }

  /** Milliseconds of the last command, in user and in system mode. */
  last(): number {
    const [, ofCommand = ''] = readFileSync(this.#times, 'utf8').split('\n');
    return [...ofCommand.matchAll(/(\d+)m([\d.]+)s/g)].reduce(
      (sum, [, minutes, seconds]) => sum + 60_000 * Number(minutes) + 1000 * Number(seconds),
      0,
    );
  }
}

function subjects(node: string, home: string, timer: Timer): Readonly<Record<string, Subject>> {
  const env = {...process.env, HOME: home, XDG_CACHE_HOME: home};
  const ours = (args: readonly string[]) => () => timer.measure([node, PROGRAM, ...args], env);
  return {
    [BARE]: () => timer.measure([node, '-e', '0']),
    '--version': ours(['--version']),
    '--help': ours(['--help']),
    values: ours(VALUES),
    'validate FILE': ours(['validate', FILE]),
    recommend: ours(['recommend', '--isolation', 'per-run']),
    'first question of the wizard': async () => {
      await untilFirstQuestion({HOME: home}, [timer.script, node]);
      return timer.last();
    },
  };
}

async function otherTools(timer: Timer): Promise<Readonly<Record<string, Subject>>> {
  const {path: helm} = (await findHelm())[0] as {path: string};
  const kubectl = await findKubectl();
  return {
    'helm version': () => timer.measure([helm, 'version']),
    'kubectl version --client': () => timer.measure([kubectl, 'version', '--client']),
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

/** How much time of the processor the program takes to start with the supported versions of Node.js, and helm and kubectl beside it. Build first. */
export async function startup(rounds: number): Promise<void> {
  const home = mkdtempSync(join(tmpdir(), 'scalr-agent-'));
  try {
    const timer = new Timer(home);
    const groups = [group('other tools', await otherTools(timer))];
    for (const version of NODE_RELEASES)
      groups.push(group(`Node.js ${version}`, subjects(await nodeRelease(version), home, timer)));
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
    const least = Math.min(...measured);
    if (bare === undefined) report({part, name: subject, value: least, unit: 'ms'});
    else row(part, subject, least, Math.min(...bare), 'bare node');
  }
}
