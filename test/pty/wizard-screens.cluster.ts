import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, onTestFinished, test} from 'vitest';
import {Film} from '../../scripts/recording/film.ts';
import {setStage} from '../../scripts/recording/stage.ts';
import {mockApi} from '../extensions/account/mock-api.ts';
import {jwt} from '../wizard/conversation.ts';

const PAGE = join(import.meta.dirname, '../../docs/guide/wizard.md');
const ENTER = '\r';
const ESC = '\u001B';
const CLEAR = '\u0015';
const CTRL_C = '\u0003';
const TOKEN = jwt({iss: 'acme.scalr.io'});

interface Screen {
  title: string;
  /** What the reader should know. */
  text: string;
  /** What is pressed, each when the screen rests and shows the pattern before it. */
  keys: readonly (string | RegExp)[];
  /** What the screen shows at last. */
  see: RegExp;
}

const SCREENS: readonly Screen[] = [
  {
    title: 'Where',
    text: 'The cluster is read in the background. With one kubeconfig context and no Docker on the machine, this is not asked.',
    keys: [`scalr-agent-install${ENTER}`],
    see: /current context: EKS[\s\S]*Esc quit/,
  },
  {
    title: 'Agent pool token',
    text: 'The token is never shown. With a Scalr credential, the agent pools of the account are offered instead.',
    keys: [ENTER, /Esc back/, TOKEN],
    see: /✔ Token for acme/,
  },
  {
    title: 'Review',
    text: 'Every decision with its reason. Decisions that deserve a look are marked and come last, and *Fix* opens the setting that removes a warning or error. Scroll up to see the beginning in a small window.',
    keys: [ENTER],
    see: /What do you want to do\?[\s\S]*Esc back/,
  },
  {
    title: 'Change',
    text: 'One entry for each topic, with its value. Type to jump to an entry. Esc returns to the review.',
    keys: [`ch${ENTER}`],
    see: /◆ {2}Change[\s\S]*Esc back/,
  },
  {
    title: 'A list of the cluster',
    text: 'Node pools, taints, StorageClasses, PVCs and Secrets are offered from the cluster.',
    keys: [`pl${ENTER}`],
    see: /nodegroup=runs[\s\S]*Esc back/,
  },
  {
    title: 'A text',
    text: 'A mistake is explained below the text, which can be corrected.',
    keys: [ESC, `ru${ENTER}`, `${CLEAR}4${ENTER}`, `${CLEAR}3${ENTER}`],
    see: /"3" has no unit/,
  },
  {
    title: 'Save files',
    text: 'The same install without the wizard, for example in CI.',
    keys: [`${CLEAR}3Gi${ENTER}`, `ba${ENTER}`, `sa${ENTER}`],
    see: /Directory to save to[\s\S]*Esc back/,
  },
  {
    title: 'Install',
    text: 'A line for each step; what is waited for, and why, stands on the last one.',
    keys: [ESC, `i${ENTER}`],
    see: /└ {2}Agent registered[\s\S]*\n\$$/,
  },
  {
    title: 'The next time',
    text: 'An installed release is opened with its settings. The token is not asked for again.',
    keys: [`clear; scalr-agent-install${ENTER}`, /current context: EKS/, ENTER],
    see: /is installed in production[\s\S]*Esc back/,
  },
  {
    title: 'Review of a change',
    text: 'Without a change, nothing is proposed. After one, the value of today stands beside the new one.',
    keys: [ENTER],
    see: /What do you want to do\?[\s\S]*Esc back/,
  },
  {
    title: 'For a screen reader',
    text: 'With `ACCESSIBLE=1` or `--accessible`, nothing is repainted, and states are words. With `TERM=dumb`, the choices are the same.',
    keys: [CTRL_C, /\n\$$/, `clear; HOME=$PWD ACCESSIBLE=1 scalr-agent-install${ENTER}`],
    see: /Type a number, back, help or quit, then Enter:/,
  },
  {
    title: 'Agent pools',
    text: 'With a Scalr credential, the install creates the token of an agent pool, and the pool too if you want.',
    keys: [
      CTRL_C,
      /\n\$$/,
      `clear; env HOME=$PWD $(cat account) scalr-agent-install --release second${ENTER}`,
      /current context: EKS/,
      ENTER,
    ],
    see: /Which agent pool[\s\S]*Esc back/,
  },
];

/** Without what differs from run to run, such as a notice of a slow wait, and without what stands above the wizard. */
const settled = (screen: readonly string[]): string =>
  screen
    .slice(screen.findLastIndex((line) => /Ctrl-C to quit|back, help or quit\.$/.test(line)) + 1)
    .join('\n')
    .replaceAll(/\(\d+(\.\d+)? s\)/g, '(1 s)')
    .replaceAll(/after \d+(\.\d+)? s/g, 'after 9 s')
    .replaceAll(/Kubernetes v[\d.]+/g, 'Kubernetes v1.35')
    .replaceAll(/localhost:\d+/g, 'acme.scalr.io')
    .replaceAll(/^Reading the choices.*\n/gm, '')
    .replaceAll(/^\$$/gm, '')
    .trim();

const SPINNER = /[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/;
const textOf = (screen: readonly string[]): string => screen.join('\n').trimEnd();

/** Presses the keys one after the other, each when the screen rests, and returns the screen that was expected. */
async function show(film: Film, {keys, see}: Screen): Promise<string> {
  for (const key of keys) {
    if (key instanceof RegExp) {
      await film.until((screen) => key.test(textOf(screen)) || undefined);
      continue;
    }
    const before = textOf(film.screen);
    await film.press(key);
    await film.until((screen) => {
      const text = textOf(screen);
      return text !== before && !SPINNER.test(text) ? true : undefined;
    });
  }
  return film.until((screen) => (see.test(textOf(screen)) ? settled(screen) : undefined));
}

/** What the environment of somebody with a Scalr credential has besides, in a file: two pools, one of them with agents. */
async function giveAccount(directory: string): Promise<void> {
  const {account, ca, deps} = await mockApi();
  const pool = account.pool('production');
  account.agent(pool, 'agent-1', {status: 'idle'});
  account.agent(pool, 'agent-2', {status: 'busy'});
  account.pool('staging');
  const caFile = join(directory, 'ca.pem');
  await writeFile(caFile, ca);
  const variables = Object.entries({...deps.env, SSL_CERT_FILE: caFile});
  const text = variables.map(([name, value]) => `${name}=${value}`).join(' ');
  await writeFile(join(directory, 'account'), text);
}

test('every screen of the wizard at 80×24 is on the page about it', {
  timeout: 300_000,
}, async () => {
  const stage = await setStage();
  onTestFinished(() => stage.clear());
  await giveAccount(stage.directory);
  const film = new Film('/bin/sh', {columns: 80, rows: 24, cwd: stage.directory, env: stage.env});
  onTestFinished(() => film.end(0));
  await film.until((screen) => (textOf(screen) === '$' ? true : undefined));
  const parts: string[] = [];
  for (const screen of SCREENS) {
    const shown = await show(film, screen);
    expect(shown).not.toContain(TOKEN.slice(0, 20));
    parts.push(`## ${screen.title}\n\n${screen.text}\n\n\`\`\`text\n${shown}\n\`\`\`\n`);
  }
  const page = `# The wizard, screen by screen

\`\`\`sh
scalr-agent install
\`\`\`

Three answers: where, the agent pool token, and the review. Nothing is changed before *Install*. These are real screens of 80×24.

${parts.join('\n')}`;
  await expect(page).toMatchFileSnapshot(PAGE);
});
