import {spawnSync} from 'node:child_process';
import {existsSync, mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {SHELLS} from '../../src/cli/completion/replies.ts';
import {hasShell, openShell, PLAIN, prepareHome, type Shell} from './shell.ts';

const PACKAGE = '/usr/share/bash-completion/bash_completion';
const BASH = `${PLAIN.bash}${SHELLS.bash.load}\n`;

/** Common shell setups, each with its startup file. */
const WAYS = [
  {way: 'bash', shell: 'bash', files: {'.bashrc': BASH}},
  {
    isVariant: true,
    way: 'bash with the package bash-completion',
    shell: 'bash',
    files: {'.bashrc': `. ${PACKAGE}\n${BASH}`},
    needs: PACKAGE,
  },
  {
    isVariant: true,
    way: 'bash after npm has changed where words break',
    shell: 'bash',
    files: {'.bashrc': `COMP_WORDBREAKS=$' \\t\\n"\\'><;|&('\n${BASH}`},
  },
  {
    isVariant: true,
    way: 'bash with unset variables forbidden',
    shell: 'bash',
    files: {'.bashrc': `${BASH}set -u\n`},
  },
  {
    way: 'zsh',
    shell: 'zsh',
    files: {'.zshrc': `${PLAIN.zsh}autoload -Uz compinit && compinit -u\n${SHELLS.zsh.load}\n`},
  },
  {
    isVariant: true,
    way: 'zsh without compinit',
    shell: 'zsh',
    files: {'.zshrc': `${PLAIN.zsh}${SHELLS.zsh.load}\n`},
  },
  {
    isVariant: true,
    way: 'zsh that loads it on the first Tab',
    shell: 'zsh',
    files: {
      '.zshrc': `${PLAIN.zsh}mkdir fn && scalr-agent completion zsh >fn/_scalr-agent\nfpath=(~/fn $fpath)\nautoload -Uz compinit && compinit -u\n`,
    },
  },
  {
    way: 'fish',
    shell: 'fish',
    files: {'.config/fish/config.fish': `${PLAIN.fish}${SHELLS.fish.load}\n`},
  },
];

const CONTEXTS = [
  'arn:aws:eks:eu-west-1:1:cluster/prod',
  'my context',
  'it$(touch pwned)',
  'two\u001b[2J',
].map((name) => ({name}));
const TOOLS = {
  kubectl: `case "$*" in
    'config view '*) echo '${JSON.stringify({contexts: CONTEXTS})}';;
    'get namespaces '*--context\\ slow*) echo 'Password:' >/dev/tty; echo noise >&2; sleep 60 & sleep 60;;
    'get namespaces '*--context\\ broken*) echo 'error: no such context' >&2; exit 1;;
    'get namespaces '*--context\\ 'my context'*) echo namespace/of-my-context;;
    'get namespaces '*) echo namespace/default;;
  esac`,
  helm: `case "$*" in
    'list '*'--namespace team'*) echo '[{"name": "blue", "chart": "agent-job-0.6.5", "status": "deployed"}]';;
    *) echo '[]';;
  esac`,
};
const FILES = {
  'values.yaml': '',
  'my file.yaml': '',
  'production.yaml': '',
  'kube.conf': '',
  'sub/file.yaml': '',
};

/** Typed keys, and the line after Tab. */
const LINES = [
  ['scalr-agent insta', 'scalr-agent install '],
  ['./.bin/scalr-agent insta', './.bin/scalr-agent install '],
  ['~/.bin/scalr-agent insta', '~/.bin/scalr-agent install '],
  ['scalr-agent install --client-k', 'scalr-agent install --client-key-file '],
  ['scalr-agent install --no-prov', 'scalr-agent install --no-provider-cache '],
  ['scalr-agent-install --chart-s', 'scalr-agent-install --chart-source '],
  ['scalr-agent install --cache p', 'scalr-agent install --cache pvc '],
  ['scalr-agent install --cache=p', 'scalr-agent install --cache=pvc '],
  ['scalr-agent install --cache "p', 'scalr-agent install --cache "pvc" '],
  // zsh removes unnecessary quotes.
  ['scalr-agent install --cache="p', /^scalr-agent install --cache=("pvc"|pvc) $/],
  ['scalr-agent uninstall --purge=claims,cr', 'scalr-agent uninstall --purge=claims,crds '],
  [
    'scalr-agent values --chart agent-k8s --chart-version 0.5.58',
    'scalr-agent values --chart agent-k8s --chart-version 0.5.58 ',
  ],
  ['scalr-agent validate val', 'scalr-agent validate values.yaml '],
  ['scalr-agent validate my', 'scalr-agent validate my\\ file.yaml '],
  [
    'scalr-agent validate -f values.yaml,pro',
    'scalr-agent validate -f values.yaml,production.yaml ',
  ],
  ['scalr-agent install --kubeconfig=ku', 'scalr-agent install --kubeconfig=kube.conf '],
  ['scalr-agent install --save s', 'scalr-agent install --save sub/'],
  ['scalr-agent values > val', 'scalr-agent values > values.yaml '],
  [
    'scalr-agent status --kube-context arn:aws:eks:',
    'scalr-agent status --kube-context arn:aws:eks:eu-west-1:1:cluster/prod ',
  ],
  [
    'scalr-agent status --kube-context=arn:aws',
    'scalr-agent status --kube-context=arn:aws:eks:eu-west-1:1:cluster/prod ',
  ],
  ['scalr-agent status --kube-context m', 'scalr-agent status --kube-context my\\ context '],
  ['scalr-agent status --kube-context "my c', 'scalr-agent status --kube-context "my context" '],
  [
    "scalr-agent status --kube-context 'my context' -n o",
    "scalr-agent status --kube-context 'my context' -n of-my-context ",
  ],
  ['scalr-agent status -nd', 'scalr-agent status -ndefault '],
  ['scalr-agent status -n team --release ', 'scalr-agent status -n team --release blue '],
  ['scalr-agent status --kube-context two', 'scalr-agent status --kube-context two'],
  ['scalr-agent install --url va', 'scalr-agent install --url va'],
  ['scalr-agent install --token-secret ', 'scalr-agent install --token-secret '],
  ['scalr-agent valeus ', 'scalr-agent valeus '],
  ['scalr-agent status --kube-context broken -n ', 'scalr-agent status --kube-context broken -n '],
  ['scalr-agent status --kubectl ./nowhere -n ', 'scalr-agent status --kubectl ./nowhere -n '],
] as const;
/** Cases that can differ between shell setups. */
const DELICATE = LINES.filter(([keys]) => /insta|[=:"]|> val/.test(keys));

describe.each(WAYS)('$way', ({shell, files, needs, isVariant = false}) => {
  const isThere = hasShell(shell) && (needs === undefined || existsSync(needs));
  if (!isThere) {
    test.skip(`${needs ?? shell} is not installed`);
    return;
  }
  const home = mkdtempSync(join(tmpdir(), 'shell-'));
  let open: Shell;
  beforeAll(async () => {
    open = await openShell(shell, home, {files: {...FILES, ...files}, tools: TOOLS});
  });
  afterAll(() => {
    open.close();
    rmSync(home, {recursive: true});
  });

  test.each(isVariant ? DELICATE : LINES)('%s', async (keys, line) => {
    expect((await open.after(`${keys}\t`)).line).toEqual(
      typeof line === 'string' ? line : expect.stringMatching(line),
    );
  });

  test('shows the descriptions of commands', async () => {
    const keys = `scalr-agent val${shell === 'bash' ? '\t\t' : '\t'}`;
    expect(await open.screen(keys, /values .*Generate/)).toMatch(/validate .*Validate/);
  });

  test('does not wait for a cluster that does not respond, and shows no prompt of its login plugin', async () => {
    const keys = 'scalr-agent status --kube-context slow -n ';
    const {line, screen} = await open.after(`${keys}\t`);
    expect(line).toBe(keys);
    expect(screen).not.toMatch(/Password|noise/);
  });

  test('runs nothing from the command line or from a name', async () => {
    await open.after('scalr-agent status --kubeconfig "$(touch pwned)" -n \t');
    const {line} = await open.after('scalr-agent status --kube-context it\t');
    expect(line).toMatch(
      /^scalr-agent status --kube-context (it\\\$\\\(touch\\ pwned\\\)|'it\$\(touch pwned\)') $/,
    );
    expect(existsSync(join(home, 'pwned'))).toBe(false);
  });
});

describe('PowerShell', () => {
  if (!hasShell('pwsh')) {
    test.skip('pwsh is not installed');
    return;
  }
  const home = mkdtempSync(join(tmpdir(), 'shell-'));
  const env = prepareHome(home, {files: FILES, tools: TOOLS});
  afterAll(() => rmSync(home, {recursive: true}));

  test.each([
    ['scalr-agent insta', 'install'],
    ['scalr-agent-install --chart-s', '--chart-source'],
    ['scalr-agent install --cache p', 'pvc'],
    ['scalr-agent install --cache=p', '--cache=pvc'],
    ['scalr-agent status --kube-context m', "'my context'"],
    ['scalr-agent status --kube-context arn', 'arn:aws:eks:eu-west-1:1:cluster/prod'],
  ])('%s', (line, expected) => {
    const script = `${SHELLS.powershell.load}; (TabExpansion2 '${line}' ${line.length}).CompletionMatches.CompletionText`;
    const {stdout} = spawnSync('pwsh', ['-NoProfile', '-NonInteractive', '-Command', script], {
      cwd: home,
      env,
      encoding: 'utf8',
    });
    expect(stdout.trim()).toBe(expected);
  });
});
