import {mkdtempSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {findHelm} from '../cluster/helm/find-helm.ts';
import {findKubectl} from '../control-plane/kubectl.ts';
import {setLogs} from '../control-plane/logs.ts';
import {Emulator} from '../support/emulator.ts';
import {chartFlags, installPlace} from '../support/install-place.ts';
import {jwt} from '../wizard/conversation.ts';
import {onTerminal, type Step, type Terminal} from './terminal.ts';

const TOKEN = jwt({iss: 'acme.scalr.io', exp: 4_000_000_000});

async function placeFlags() {
  const place = await installPlace();
  const [helm] = await findHelm();
  const tools = [
    '--kubeconfig',
    place.kubeconfig,
    '--namespace',
    place.namespace,
    '--helm',
    helm?.path as string,
  ];
  return {
    place,
    args: [...tools, '--kubectl', await findKubectl(), ...(await chartFlags('agent-local'))],
  };
}

/** Installs with the built program on a terminal, and returns what is on the screen at the end. */
async function installOn(
  {steps = [], ...terminal}: Terminal & {steps?: readonly Step[]},
  ...more: string[]
) {
  const args = ['install', ...(await placeFlags()).args, ...more];
  const folder = mkdtempSync(join(tmpdir(), 'scalr-agent-'));
  const env = {SCALR_AGENT_TOKEN: TOKEN, NO_COLOR: '1', XDG_STATE_HOME: folder, ...terminal.env};
  const {screen, exit} = await onTerminal(args, steps, folder, {...terminal, env});
  const emulator = new Emulator({columns: terminal.cols ?? 80, rows: terminal.rows ?? 24});
  emulator.write(screen);
  return {exit, screen, lines: await emulator.lines(), broken: await emulator.broken()};
}

const MARKS = /^│ {2}[✓…]/;

test('an install on a terminal ticks its steps on a rail, and ends with the account and the next steps', async () => {
  const {exit, screen, lines} = await installOn({}, '--yes');
  expect(exit, screen).toBe(0);
  const text = lines.join('\n');
  expect(text).toMatch(
    /\n◆ {2}Installing agent-local 0\.6\.5 as release scalr-agent\n│ {2}✓ .*Secret scalr-agent-token \(\d\.\d s\)\n/,
  );
  expect(text).toMatch(
    /\n│ {2}✓ deployment\/scalr-agent[^\n]*: 1 of 1 ready \([\d.]+ s\)\n└ {2}Agent registered with acme\.scalr\.io after [\d.]+ s\.\n/,
  );
  expect(lines.filter((line) => MARKS.test(line)).length).toBeGreaterThanOrEqual(3);
  expect(text).not.toContain('⠋');
  expect(screen).toContain('⠋');
  expect(text).toContain('Next steps:');
});

const enter = (see: RegExp): Step => ({see, press: '\r'});

test('keys during an install leave no mark, and Ctrl-C interrupts it', async () => {
  const steps = [
    enter(/Where will the agent run\?[\s\S]*Esc quit/),
    {see: /What do you want to do\?[\s\S]*❯ Install[\s\S]*Esc back/, press: 'in\r'},
    {see: /Installing[\s\S]*[⠋⠙⠹⠸]/, press: '\r\rabc\r'},
    {see: /0 of 5 ready[\s\S]*[⠋⠙⠹⠸]/, press: 'abc\r\u0003'},
  ];
  const flags = ['--skip-preflight', '--timeout', '50s', '--node-selector', 'pool=nowhere'];
  const {exit, screen, lines} = await installOn({steps}, ...flags);
  expect(exit, screen).toBe(130);
  expect(lines.join('\n')).not.toMatch(/abc|[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/);
});

test('a pod that cannot start: the cause is on the rail before the command fails', async () => {
  const {exit, lines} = await installOn(
    {},
    '--yes',
    '--skip-preflight',
    '--timeout',
    '15s',
    '--node-selector',
    'pool=nowhere',
  );
  expect(exit).not.toBe(0);
  const at = (pattern: RegExp): number => lines.findIndex((line) => pattern.test(line));
  expect(at(/^│ {4}! [A-Z_]+ {2}pod\//)).toBeGreaterThan(0);
  expect(at(/^└ {2}(Failed|Timed out) after/)).toBeGreaterThan(at(/^│ {4}! [A-Z_]+ {2}pod\//));
  expect(at(/^Error: /)).toBeGreaterThan(at(/^└/));
});

test('with --accessible an install repaints nothing and has a word for every state', async () => {
  const {exit, screen, lines} = await installOn({}, '--yes', '--accessible');
  expect(exit, screen).toBe(0);
  expect(screen.replaceAll('\r\n', '\n')).toMatch(/^[ -~\n]*$/);
  expect(lines.join('\n')).toMatch(/\nDone: deployment\/scalr-agent[^\n]*: 1 of 1 ready/);
});

test('with --accessible the wizard leads from the first question to a registered agent, one line at a time', async () => {
  const {place, args} = await placeFlags();
  const KEY = /then\s+Enter: $/;
  const answers: [see: RegExp, press: string][] = [
    [/Where will the agent run\?/, ''],
    [/Agent pool token/, ''],
    // It is not shown, and the wizard says where it belongs.
    [/Secret with the agent pool token/, jwt({iss: 'elsewhere.scalr.io', exp: 4_000_000_000})],
    [/Paste it only where the agent pool token is asked for\./, 'back'],
    [/Agent pool token/, TOKEN],
    [/What do you want to do\?/, 'help'],
    [/Nothing has been changed yet\./, '1'],
  ];
  const steps = answers.map(([see, press]) => ({
    see: new RegExp(`${see.source}[\\s\\S]*?${KEY.source}`),
    press: `${press}\r`,
  }));
  const folder = mkdtempSync(join(tmpdir(), 'scalr-agent-'));
  const {screen, exit} = await onTerminal([...args, '--accessible'], steps, folder, {
    program: 'scalr-agent-install',
    cols: 120,
    env: {NO_COLOR: '1', XDG_STATE_HOME: folder},
  });
  expect(exit, screen).toBe(0);
  expect(screen).not.toContain(TOKEN);
  expect(screen).not.toMatch(/\bEsc\b/);
  expect(screen.replaceAll('\r\n', '\n')).toMatch(/^[ -~\n]*$/);
  const transcript = screen
    .replaceAll('\r\n', '\n')
    .replaceAll(place.namespace, 'NAMESPACE')
    .replaceAll(/\b[\d.]+ s\b/g, 'N s')
    .replace(/(scalr-agent-install) [\d.]+/, '$1 VERSION')
    // Other tests have pods in the cluster.
    .replace(/5 of [\d.]+ free CPU, 5Gi of \d+Gi/, '5 of N free CPU, 5Gi of NGi')
    // A quick cluster is not waited for.
    .replaceAll(/^(Waiting|Still working): .*\n/gm, '')
    .replaceAll(/^Checking (what an install would change|the plan) \.\.\.\n/gm, '')
    .replaceAll(
      /\/[\w./-]*\/(agent-local[\w./-]*|kubeconfig|answers\.yaml|values\.yaml)/g,
      'PATH/$1',
    );
  await expect(transcript).toMatchFileSnapshot('../golden/accessible-install.txt');
});

const REPLACED = {timeout: 180_000};
const NEW = jwt({iss: 'acme.scalr.io', sub: 'new'});

test(
  'a token that Scalr rejects is replaced from the first row of the menu',
  REPLACED,
  async () => {
    const {place, args} = await placeFlags();
    const folder = mkdtempSync(join(tmpdir(), 'scalr-agent-'));
    const env = {NO_COLOR: '1', XDG_STATE_HOME: folder};
    await setLogs(
      place.kubeconfig,
      {namespace: place.namespace},
      {'*': {current: ['401 Client Error: Unauthorized for url: https://acme.scalr.io']}},
    );
    const rejected = await onTerminal(
      ['install', ...args, '--yes', '--skip-preflight', '--timeout', '25s'],
      [],
      folder,
      {env: {...env, SCALR_AGENT_TOKEN: TOKEN}},
    );
    expect(rejected.exit, rejected.screen).not.toBe(0);

    const paste = (text: string): string => `\u001B[200~${text}\u001B[201~`;
    const steps: Step[] = [
      enter(/Where will the agent run\?[\s\S]*Esc quit/),
      enter(/× Scalr rejects the token of the agent\.[\s\S]*❯ Enter a new token/),
      {see: /Agent pool token/, press: `${paste(NEW.slice(0, 30))}\r`},
      {see: /The token is incomplete/, press: paste(`Bearer ${NEW}`)},
      enter(/✔ Token for acme\.scalr\.io/),
      {see: /token replaced[\s\S]*❯ Update the installed release/, press: '\u0003'},
    ];
    const {exit, screen} = await onTerminal(['install', ...args], steps, folder, {env});
    expect(exit, screen).toBe(130);
  },
);

test('the wizard continues after status, and after a plan that is not confirmed', async () => {
  const {args} = await placeFlags();
  const folder = mkdtempSync(join(tmpdir(), 'scalr-agent-'));
  const env = {NO_COLOR: '1', XDG_STATE_HOME: folder};
  const installed = await onTerminal(
    ['install', ...args, '--yes', '--skip-preflight'],
    [],
    folder,
    {
      env: {...env, SCALR_AGENT_TOKEN: TOKEN},
    },
  );
  expect(installed.exit, installed.screen).toBe(0);
  const menu = /is installed in[\s\S]*Uninstall…[\s\S]*Esc back/;
  const steps: Step[] = [
    enter(/Where will the agent run\?[\s\S]*Esc quit/),
    {see: menu, press: 'sh\r'},
    {see: /is ready\.?[\s\S]*is installed in[\s\S]*Esc back/, press: 'un\r'},
    {see: /Apply this plan\?|to confirm/, press: '\u001b'},
    {see: menu, press: '\u0003'},
  ];
  const {exit, screen} = await onTerminal(['install', ...args], steps, folder, {env});
  expect(exit, screen).toBe(130);
});
