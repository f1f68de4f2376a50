import {describe, expect, test} from 'vitest';
import type {App} from '../../src/cli/app.ts';
import CollectLogs from '../../src/commands/collect-logs.ts';
import Debug from '../../src/commands/debug.ts';
import ExportCommand from '../../src/commands/export.ts';
import Images from '../../src/commands/images.ts';
import Install from '../../src/commands/install.ts';
import Migrate from '../../src/commands/migrate.ts';
import Network from '../../src/commands/network.ts';
import PoolList from '../../src/commands/pool/list.ts';
import Preflight from '../../src/commands/preflight.ts';
import Recommend from '../../src/commands/recommend.ts';
import RotateToken from '../../src/commands/rotate-token.ts';
import Schema from '../../src/commands/schema.ts';
import Status from '../../src/commands/status.ts';
import Uninstall from '../../src/commands/uninstall.ts';
import Upgrade from '../../src/commands/upgrade.ts';
import Validate from '../../src/commands/validate.ts';
import Values from '../../src/commands/values.ts';
import {INSTALL_KUBECTL} from '../../src/ground/errors.ts';
import {toolNotFound} from '../../src/ground/system/node-processes.ts';
import {memoryFiles} from '../support/memory-files.ts';
import {runCommand} from '../support/run-command.ts';

/** A machine without helm, kubectl and docker. Any request fails the test. */
const requireTool: App['requireTool'] = async (tool, paths = {}) => {
  throw toolNotFound(tool, paths[tool] ?? tool, false);
};

async function failureOf(
  Class: Parameters<typeof runCommand>[0],
  line: string,
  deps: Omit<Partial<App>, 'prompter'> = {},
) {
  const argv = [...line.split(' ').filter(Boolean), '--json'];
  const files = memoryFiles({empty: '\n'});
  const {stdout} = await runCommand(Class, argv, {requireTool, files, ...deps});
  const {error, ...decision} = JSON.parse(stdout);
  return {...error, lines: error.message.split('\n'), decision};
}

const cannotRead = (path: string, flag = ''): string =>
  `${flag === '' ? '' : `${flag}: `}Cannot read ${path}: no such file or directory.`;
const NO_URL =
  'Scalr URL is required (flag --url, variable SCALR_AGENT_INSTALL_URL, answers key url).';
const NO_TOKEN =
  'No agent pool token was given. It is required unless Secret scalr-agent-token exists in namespace scalr-agent.';
const NO_HELM = 'helm not found on PATH.';
const NO_KUBECTL = 'kubectl not found on PATH.';
const NO_DURATION = '--timeout: "soon" is not a duration.';

describe('install', () => {
  test('lists everything that is missing in one error', async () => {
    expect(await failureOf(Install, '')).toMatchObject({
      code: 'MISSING_SETTING',
      exit: 2,
      lines: [NO_URL, NO_HELM, NO_KUBECTL, NO_TOKEN],
      suggestions: [
        'Add --url URL',
        'Install helm, or set its path with --helm',
        INSTALL_KUBECTL,
        'Set the agent pool token with SCALR_AGENT_TOKEN or --token-file, or use an existing Secret with --token-secret',
        'For an agent outside Kubernetes, add --target docker',
      ],
    });
  });

  test('offers one command with all missing settings', async () => {
    const {decision} = await failureOf(Install, '', {requireTool: async () => undefined});
    expect(decision).toMatchObject({
      status: 'action_required',
      reason: 'setting_required',
      next: [{command: expect.stringMatching(/install --json --url URL --token-file FILE$/)}],
    });
  });

  test('lists every file that cannot be read, with its flag', async () => {
    const line =
      '--token-file empty -f a --answers b --ca-file c --client-cert-file d --client-key-file e --verify f --chart-source ./g --kubeconfig h --helm /nope';
    const {code, lines} = await failureOf(Install, line);
    expect(code).toBe('UNREADABLE_FILE');
    expect(lines).toEqual([
      cannotRead('b', '--answers'),
      cannotRead('./g', '--chart-source'),
      '--token-file: empty: the token is empty.',
      cannotRead('c', '--ca-file'),
      cannotRead('d', '--client-cert-file'),
      cannotRead('e', '--client-key-file'),
      cannotRead('a', '--values-file'),
      `${NO_URL.slice(0, -1)}, unless a file named above contains it.`,
      cannotRead('h', '--kubeconfig'),
      cannotRead('f', '--verify'),
      '/nope cannot be executed: no such file.',
      NO_KUBECTL,
    ]);
  });

  test('reports no setting as missing or ineffective that an unreadable file can contain', async () => {
    const line = '--url https://acme.scalr.io --otel-metrics --token-secret t';
    expect((await failureOf(Install, line)).lines[0]).toMatch(
      /^--otel-metrics: Requires --otel-endpoint/,
    );
    for (const file of ['--answers', '--values-file'])
      expect((await failureOf(Install, `${line} ${file} a`)).lines).toEqual([
        cannotRead('a', file),
        NO_HELM,
        NO_KUBECTL,
      ]);
    expect((await failureOf(Install, '--token-file a')).lines[1]).toBe(
      `${NO_URL.slice(0, -1)}, unless a file named above contains it.`,
    );
  });

  test('does not list what is missing while the answers file is invalid, which has other keys', async () => {
    const files = memoryFiles({'answers.yaml': 'cach: pvc\n'});
    const {code, lines} = await failureOf(Install, '--answers answers.yaml', {files});
    expect(code).toBe('INVALID_ANSWERS_FILE');
    expect(lines.slice(0, 2)).toEqual(['answers.yaml: unknown setting "cach" (line 1).', NO_HELM]);
  });

  test('lists invalid settings of an answers file beside unknown ones', async () => {
    const files = memoryFiles({'answers.yaml': 'cach: pvc\ncloud: mars\n'});
    const {lines} = await failureOf(Install, '--answers answers.yaml', {files});
    expect(lines.slice(0, 3)).toEqual([
      'answers.yaml: unknown setting "cach" (line 1).',
      'answers.yaml (line 2): cloud: "mars" is not one of gke, gke-autopilot, eks, aks, openshift, other.',
      NO_HELM,
    ]);
  });

  test.each([
    ['--token-file', '--token-file empty', {}],
    ['a Secret', '--token-secret own', {}],
    ['the variable', '', {SCALR_AGENT_TOKEN: 'e30.e30.c2ln'}],
    ['a new token of the agent pool', '--pool runs', {}],
  ])('does not ask for a token that is given with %s', async (_, line, env) => {
    const {lines} = await failureOf(Install, `--url https://acme.scalr.io ${line}`, {env});
    expect(lines).not.toContain(NO_TOKEN);
    expect(lines).toContain(NO_HELM);
  });

  test('lists a missing credential of the account', async () => {
    const {lines} = await failureOf(Install, '--pool runs --ca-file a --timeout soon');
    expect(lines).toEqual([
      cannotRead('a', '--ca-file'),
      'No Scalr API token found.',
      NO_DURATION,
      NO_HELM,
      NO_KUBECTL,
    ]);
  });

  test('requires docker instead of helm and kubectl for an agent on this machine', async () => {
    expect((await failureOf(Install, '--target docker')).lines).toEqual([
      NO_URL,
      'docker not found on PATH.',
      'No agent pool token was given. It is required unless an agent of release scalr-agent runs on this machine.',
    ]);
  });

  test('does not report what it can ask for on a terminal', async () => {
    const screen = {hasColor: false, columns: 200};
    const {stderr} = await runCommand(Install, ['--yes'], {requireTool, hasTerminal: true, screen});
    expect(stderr).toContain(NO_HELM);
    expect(stderr).not.toContain('Scalr URL is required');
  });
});

test.each<[string, Parameters<typeof failureOf>[0], string, string[]]>([
  [
    'upgrade',
    Upgrade,
    '-f a --chart-source ./b --verify c --answers d --timeout soon',
    [
      cannotRead('d', '--answers'),
      cannotRead('./b', '--chart-source'),
      cannotRead('a'),
      NO_DURATION,
      cannotRead('c', '--verify'),
      NO_HELM,
      NO_KUBECTL,
    ],
  ],
  [
    'uninstall',
    Uninstall,
    '--drain-timeout soon --answers a',
    [
      cannotRead('a', '--answers'),
      '--drain-timeout: "soon" is not a duration.',
      NO_KUBECTL,
      NO_HELM,
    ],
  ],
  [
    'debug',
    Debug,
    'on --chart-source ./a --timeout soon',
    [cannotRead('./a', '--chart-source'), NO_DURATION, NO_HELM, NO_KUBECTL],
  ],
  [
    'status',
    Status,
    '-f a --answers b --timeout soon --helm /nope',
    [
      cannotRead('b', '--answers'),
      cannotRead('a'),
      NO_DURATION,
      '/nope cannot be executed: no such file.',
      NO_KUBECTL,
    ],
  ],
  [
    'rotate-token',
    RotateToken,
    '--timeout soon --ca-file a',
    [
      cannotRead('a', '--ca-file'),
      NO_DURATION,
      NO_KUBECTL,
      'No new token was given, and no Scalr API token was found to create one.',
    ],
  ],
  [
    'collect-logs',
    CollectLogs,
    '--since soon --answers a',
    [cannotRead('a', '--answers'), '--since: "soon" is not a duration.', NO_KUBECTL],
  ],
  [
    'preflight',
    Preflight,
    '--ca-file a --kubeconfig b --probe --probe-url c --timeout soon',
    [
      cannotRead('a', '--ca-file'),
      '--probe-url: "c" is not an HTTP URL.',
      NO_DURATION,
      cannotRead('b', '--kubeconfig'),
    ],
  ],
  [
    'values',
    Values,
    '--from-cluster --ca-file a --kubeconfig b',
    [cannotRead('a', '--ca-file'), NO_URL, cannotRead('b', '--kubeconfig'), NO_KUBECTL],
  ],
  [
    'recommend',
    Recommend,
    '--from-cluster --ca-file a',
    [cannotRead('a', '--ca-file'), NO_KUBECTL],
  ],
  [
    'images',
    Images,
    '--verify a --answers b --chart-source ./c --helm /nope',
    [
      cannotRead('b', '--answers'),
      cannotRead('./c', '--chart-source'),
      cannotRead('a', '--verify'),
      '/nope cannot be executed: no such file.',
    ],
  ],
  [
    'export',
    ExportCommand,
    'docker --ca-file a --helm /nope',
    [cannotRead('a', '--ca-file'), NO_URL, '/nope cannot be executed: no such file.'],
  ],
  [
    'migrate',
    Migrate,
    'a --chart-source ./b --helm /nope',
    [
      cannotRead('a'),
      cannotRead('./b', '--chart-source'),
      '/nope cannot be executed: no such file.',
    ],
  ],
  [
    'validate',
    Validate,
    'a --answers b --chart-source ./c --helm /nope',
    [
      cannotRead('b', '--answers'),
      cannotRead('./c', '--chart-source'),
      cannotRead('a'),
      '/nope cannot be executed: no such file.',
    ],
  ],
  [
    'network',
    Network,
    '--probe --probe-url a --timeout soon --ca-file b',
    [cannotRead('b', '--ca-file'), '--probe-url: "a" is not an HTTP URL.', NO_DURATION],
  ],
  [
    'schema',
    Schema,
    '--answers a --chart-source ./b',
    [cannotRead('a', '--answers'), cannotRead('./b', '--chart-source')],
  ],
  [
    'pool list',
    PoolList,
    '--ca-file a',
    [cannotRead('a', '--ca-file'), 'No Scalr API token found.'],
  ],
])('%s lists every wrong local input in one error', async (_, Class, line, expected) => {
  const {lines, exit} = await failureOf(Class, line);
  expect(lines).toEqual(expected);
  expect(exit).toBe(2);
});
