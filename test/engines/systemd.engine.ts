import {execFileSync, spawnSync} from 'node:child_process';
import {mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {expect, onTestFinished, test} from 'vitest';
import {
  environmentFilesIn,
  environmentIn,
  parseEnvironmentFile,
} from '../../src/ground/system/systemd.ts';
import {installed} from './tools.ts';

/** A systemd of a user, which needs no machine that was booted with systemd: only the directory that says so, in a namespace of its own. */
const MANAGER = '/lib/systemd/systemd';

const UNIT = (directory: string): string => `[Service]
Type=oneshot
Environment=SCALR_URL=https://acme.scalr.io "A=x y" 'B=it"s $HOME \`x\` \\\\ back' C=50%%off "NL=a\\nb" "D=a'b;c*"
EnvironmentFile=${directory}/agent.env
EnvironmentFile=-${directory}/%p.env
ExecStart=/bin/sh -c 'cat /proc/self/environ > ${directory}/environ'
`;

const VARIABLES = `# comment
SCALR_AGENT_TOKEN=one two\u0020
A="a \\"b\\" c"
F1='x
y'
F2=
F3=a\\b c\\
 d
F4="l1 \\
l2" 'x'tail
F5=a"b"
F6='it\\'s'
F7="a\\b" # s
F8=v # s
;F9=1
F10 = spaced
F11='q'  "r"  z z
F12="$HOME \`x\` \\$y"
`;

test('reads the variables that systemd gives to a service', {
  timeout: 60_000,
}, async (context) => {
  await installed('systemctl', 'systemd', context);
  if (spawnSync('unshare', ['--mount', 'test', '-x', MANAGER]).status !== 0)
    context.skip(`no ${MANAGER}, or no right to create a mount namespace`);
  const directory = mkdtempSync(join(tmpdir(), 'systemd-'));
  onTestFinished(() => rmSync(directory, {recursive: true, force: true}));
  const units = join(directory, 'systemd/user');
  mkdirSync(units, {recursive: true});
  mkdirSync(join(directory, 'run'), {mode: 0o700});
  writeFileSync(join(units, 'scalr-agent.service'), UNIT(directory));
  writeFileSync(join(directory, 'agent.env'), VARIABLES);
  const script = `mount -t tmpfs tmpfs /run && mkdir -p /run/systemd/system
${MANAGER} --user >/dev/null 2>&1 &
manager=$!
trap 'kill $manager' EXIT
until systemctl --user start scalr-agent 2>/dev/null; do sleep 0.2; done
systemctl --user show scalr-agent`;
  const shown = execFileSync('unshare', ['--mount', 'timeout', '40', 'sh', '-c', script], {
    encoding: 'utf8',
    env: {
      PATH: process.env['PATH'],
      HOME: directory,
      XDG_CONFIG_HOME: directory,
      XDG_RUNTIME_DIR: join(directory, 'run'),
    },
  });
  expect(environmentFilesIn(shown)).toEqual([
    {path: `${directory}/agent.env`, isOptional: false},
    {path: `${directory}/scalr-agent.env`, isOptional: true},
  ]);
  const real = new Map(
    readFileSync(join(directory, 'environ'), 'utf8')
      .split('\0')
      .map((each) => [each.replace(/=.*/s, ''), each.replace(/^[^=]*=/, '')] as const),
  );
  const variables = [...environmentIn(shown), ...parseEnvironmentFile(VARIABLES)];
  const read = new Map(variables.map(({name, value}) => [name, value]));
  expect(read.size).toBe(18);
  for (const [name, value] of read) expect([name, value]).toEqual([name, real.get(name)]);
});
