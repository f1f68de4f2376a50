import {mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {execa} from 'execa';
import type {FaultyApi} from '../control-plane/faulty-api.ts';
import {findKubectl} from '../control-plane/kubectl.ts';
import type {Workplace} from '../control-plane/workplace.ts';
import {PROGRAM} from '../package/built.ts';
import {TOKEN} from './install-place.ts';

const scratch = mkdtempSync(join(tmpdir(), 'scalr-agent-'));
process.once('exit', () => rmSync(scratch, {recursive: true, force: true}));
const kubectl = await findKubectl();

interface Run {
  /** Ends as whoever sends signals to a whole group of processes does. */
  signal(name: NodeJS.Signals): void;
  /** Its helm that ran last. */
  helmPid(): number;
  /** Its kubectl proxy. */
  proxyPid(): number;
  ended: Promise<{stdout: string; stderr: string; exitCode?: number; signal?: string}>;
}

/** The built program in a group of its own, without a terminal. Tools are wrapped so that their numbers are known. */
export function startProgram(
  command: string,
  {namespace}: Workplace,
  api: FaultyApi,
  helm: string,
  argv: readonly string[],
  env: Readonly<Record<string, string>> = TOKEN,
): Run {
  const pids = join(scratch, namespace);
  const wrapped = (tool: string, path: string, suffix: string): string => {
    const wrapper = `${pids}-${tool}`;
    writeFileSync(wrapper, `#!/bin/sh\necho $$ >'${pids}'${suffix}\nexec '${path}' "$@"\n`, {
      mode: 0o755,
    });
    return wrapper;
  };
  const tools = [
    '--helm',
    wrapped('helm', helm, '.helm'),
    '--kubectl',
    wrapped('kubectl', kubectl, '."$1"'),
  ];
  const place = ['--kubeconfig', api.kubeconfig, '--namespace', namespace, ...tools];
  const child = execa(process.execPath, [PROGRAM, command, ...place, ...argv], {
    detached: true,
    stdin: 'ignore',
    reject: false,
    env,
  });
  return {
    signal: (name) => void process.kill(-(child.pid as number), name),
    helmPid: () => pidIn(`${pids}.helm`),
    proxyPid: () => pidIn(`${pids}.proxy`),
    ended: child.then(({stdout, stderr, exitCode, signal}) => ({
      stdout,
      stderr,
      ...(exitCode === undefined ? {} : {exitCode}),
      ...(signal ? {signal} : {}),
    })),
  };
}

function pidIn(file: string): number {
  const pid = Number(readFileSync(file, 'utf8'));
  // 0 would be the group of the tests themselves.
  if (!(pid > 0)) throw new Error('the tool has not started yet');
  return pid;
}
