import {afterEach, beforeEach, describe, expect, test, vi} from 'vitest';
import {ExpectedError} from '../../src/ground/errors.ts';
import {objectFinding} from '../../src/ground/finding.ts';
import {LiveLines} from '../../src/ui/live-lines.ts';
import {nextSteps, nextStepsText, resultSentence} from '../../src/ui/next-steps.ts';
import {TerminalProgress} from '../../src/ui/progress.ts';
import type {Screen} from '../../src/ui/theme.ts';
import {Emulator} from '../support/emulator.ts';

beforeEach(() => vi.useFakeTimers({now: 0, toFake: ['setInterval', 'clearInterval', 'Date']}));
afterEach(() => vi.useRealTimers());

const SECRET = {title: 'Create Secret scalr-agent-token'};
const HELM = {
  title: 'Install agent-job 0.6.5 as release scalr-agent',
  call: {tool: 'helm' as const, verb: 'upgrade' as const},
};
const DEPLOYMENT = {
  object: 'deployment/scalr-agent',
  state: 'waiting' as const,
  text: '0 of 1 ready',
};
const READY = {...DEPLOYMENT, state: 'ready' as const, text: '1 of 1 ready'};
const CAUSE = objectFinding('warning', 'pvc/scalr-agent-cache', 'PENDING', {
  message: 'no StorageClass efs-sc in this cluster, so no volume is created',
  remedy: 'Create it',
});
const NAME = {release: 'scalr-agent', kubeTarget: {namespace: 'scalr-agent'}};

/** A view on a terminal of this size, or in a pipe. */
function viewOn(columns: number | undefined, rows = 24, more: Partial<Screen> = {}) {
  const emulator = new Emulator({columns: columns ?? 200, rows});
  const live = new LiveLines({write: (text) => emulator.write(text)});
  const screen: Screen = {hasColor: false, columns, isLive: columns !== undefined, ...more};
  const view = new TerminalProgress('Installing agent-job 0.6.5 as release scalr-agent', {
    say: live.print,
    draw: live.draw,
    screen,
    now: () => new Date(),
  });
  return {view, live, screen, lines: () => emulator.lines(), broken: () => emulator.broken()};
}

const passing = (milliseconds: number) => vi.advanceTimersByTime(milliseconds);

/** An install that registers after 14 s, until the image is pulled and to its end. */
async function installOn({view, live, screen, lines}: ReturnType<typeof viewOn>) {
  view.onStep(SECRET, 'started');
  passing(400);
  view.onStep(SECRET, 'done');
  view.onStep(HELM, 'started');
  passing(2100);
  view.onStep(HELM, 'done');
  view.onProgress([{...DEPLOYMENT, waitingFor: 'waiting for a node'}], []);
  passing(1500);
  view.onProgress([{...DEPLOYMENT, waitingFor: 'pulling the image'}], [CAUSE]);
  passing(6000);
  const during = await lines();
  view.onProgress([READY], []);
  passing(4000);
  view.done(
    ...resultSentence({
      what: 'release scalr-agent',
      hasChanged: true,
      agent: 'registered',
      url: 'https://acme.scalr.io',
    }),
  );
  view.close();
  const program = {install: 'scalr-agent install', other: 'scalr-agent'};
  live.print(nextStepsText(nextSteps({name: NAME, isForVcs: false, program, env: {}}), screen));
  return {during, after: await lines()};
}

test('an install at 80×24: a tick for each step with its time, and the cause as soon as it is known', async () => {
  const terminal = viewOn(80);
  const {during, after} = await installOn(terminal);
  expect(during).toMatchInlineSnapshot(`
    [
      "◆  Installing agent-job 0.6.5 as release scalr-agent",
      "│  ✓ Create Secret scalr-agent-token (0.4 s)",
      "│  ✓ Install agent-job 0.6.5 as release scalr-agent (2.1 s)",
      "│    ! PENDING  pvc/scalr-agent-cache: no StorageClass efs-sc in this cluster,",
      "│      so no volume is created",
      "│  ⠋ deployment/scalr-agent: 0 of 1 ready, pulling the image (7.5 s)      00:10",
    ]
  `);
  expect(after).toMatchInlineSnapshot(`
    [
      "◆  Installing agent-job 0.6.5 as release scalr-agent",
      "│  ✓ Create Secret scalr-agent-token (0.4 s)",
      "│  ✓ Install agent-job 0.6.5 as release scalr-agent (2.1 s)",
      "│    ! PENDING  pvc/scalr-agent-cache: no StorageClass efs-sc in this cluster,",
      "│      so no volume is created",
      "│  ✓ deployment/scalr-agent: 1 of 1 ready (7.5 s)",
      "└  Agent registered with acme.scalr.io after 14 s.",
      "",
      "Next steps:",
      "  Scalr: settings of a workspace or environment",
      "      # select the agent pool",
      "  scalr-agent status",
      "      # health, runs and versions",
      "  scalr-agent upgrade",
      "      # when a new chart version is out",
      "  scalr-agent collect-logs",
      "      # write a bundle for support",
      "  scalr-agent uninstall --dry-run",
      "      # show what it would remove",
    ]
  `);
  expect(await terminal.broken()).toEqual([]);
});

test('an install at 50×15 has no rail, and whole words', async () => {
  const terminal = viewOn(50, 15);
  const {during, after} = await installOn(terminal);
  expect(during).toMatchInlineSnapshot(`
    [
      "Installing agent-job 0.6.5 as release scalr-agent",
      "✓ Create Secret scalr-agent-token (0.4 s)",
      "✓ Install agent-job 0.6.5 as release scalr-agent",
      "  (2.1 s)",
      "  ! PENDING  pvc/scalr-agent-cache: no",
      "    StorageClass efs-sc in this cluster, so no",
      "    volume is created",
      "⠋ deployment/scalr-agent: 0 of 1 ready, pulling…",
    ]
  `);
  expect(after).toMatchInlineSnapshot(`
    [
      "Installing agent-job 0.6.5 as release scalr-agent",
      "✓ Create Secret scalr-agent-token (0.4 s)",
      "✓ Install agent-job 0.6.5 as release scalr-agent",
      "  (2.1 s)",
      "  ! PENDING  pvc/scalr-agent-cache: no",
      "    StorageClass efs-sc in this cluster, so no",
      "    volume is created",
      "✓ deployment/scalr-agent: 1 of 1 ready (7.5 s)",
      "Agent registered with acme.scalr.io after 14 s.",
      "",
      "Next steps:",
      "  Scalr: settings of a workspace or environment",
      "      # select the agent pool",
      "  scalr-agent status",
      "      # health, runs and versions",
      "  scalr-agent upgrade",
      "      # when a new chart version is out",
      "  scalr-agent collect-logs",
      "      # write a bundle for support",
      "  scalr-agent uninstall --dry-run",
      "      # show what it would remove",
    ]
  `);
  expect(await terminal.broken()).toEqual([]);
});

test('in a pipe the same sentences come one per line', async () => {
  const {after} = await installOn(viewOn(undefined));
  expect(after).toMatchInlineSnapshot(`
    [
      "Installing agent-job 0.6.5 as release scalr-agent",
      "✓ Create Secret scalr-agent-token (0.4 s)",
      "✓ Install agent-job 0.6.5 as release scalr-agent (2.1 s)",
      "… deployment/scalr-agent: 0 of 1 ready, waiting for a node",
      "… deployment/scalr-agent: 0 of 1 ready, pulling the image",
      "  ! PENDING  pvc/scalr-agent-cache: no StorageClass efs-sc in this cluster, so no volume is created",
      "✓ deployment/scalr-agent: 1 of 1 ready (7.5 s)",
      "Agent registered with acme.scalr.io after 14 s.",
      "",
      "Next steps:",
      "  Scalr: settings of a workspace or environment  # select the agent pool",
      "  scalr-agent status                             # health, runs and versions",
      "  scalr-agent upgrade                            # when a new chart version is out",
      "  scalr-agent collect-logs                       # write a bundle for support",
      "  scalr-agent uninstall --dry-run                # show what it would remove",
    ]
  `);
});

describe('a step that fails', () => {
  test.each([
    ['NOT_READY', 'Failed after 3.0 s.'],
    ['TIMED_OUT', 'Timed out after 3.0 s.'],
    ['INTERRUPTED', 'Interrupted after 3.0 s.'],
  ] as const)('gets a cross, and %s ends the rail', async (code, last) => {
    const {view, lines} = viewOn(80);
    view.onStep(HELM, 'started');
    passing(3000);
    view.close(new ExpectedError('it failed', {code}));
    passing(1000);
    expect(await lines()).toEqual([
      '◆  Installing agent-job 0.6.5 as release scalr-agent',
      `│  × ${HELM.title} (3.0 s)`,
      `└  ${last}`,
    ]);
  });

  test('is not ticked when the next step begins', async () => {
    const {view, lines} = viewOn(undefined);
    view.onStep(SECRET, 'started');
    view.onStep(HELM, 'started');
    view.onStep(HELM, 'done');
    view.close();
    expect((await lines()).slice(1, 3)).toEqual([
      `× ${SECRET.title} (0.0 s)`,
      `✓ ${HELM.title} (0.0 s)`,
    ]);
  });
});

test('a pipe hears every 30 s what is waited for', async () => {
  const {view, lines} = viewOn(undefined);
  view.onStep(HELM, 'started');
  passing(61_000);
  view.onStep(HELM, 'done');
  view.close();
  expect(await lines()).toEqual([
    'Installing agent-job 0.6.5 as release scalr-agent',
    `Still working: ${HELM.title} (30 s)`,
    `Still working: ${HELM.title} (1 min)`,
    `✓ ${HELM.title} (1 min 1 s)`,
    'Completed after 1 min 1 s.',
  ]);
});

test('a text that is printed meanwhile stays above the live line', async () => {
  const {view, live, lines} = viewOn(80);
  view.onStep(HELM, 'started');
  live.print('Warning: something else\n');
  passing(500);
  expect((await lines()).slice(1).map((line) => line.replace(/^│ {2}. /, '│  ? '))).toEqual([
    'Warning: something else',
    `│  ? ${HELM.title} (0.5 s)               00:00`,
  ]);
  view.close();
});

test('many workloads that are waited for take four lines, and a line that is too long is cut', async () => {
  const {view, lines, broken} = viewOn(40, 15);
  view.onProgress(
    Array.from({length: 6}, (_, index) => ({
      ...DEPLOYMENT,
      object: `deployment/scalr-agent-with-a-long-name-${index}`,
    })),
    [],
  );
  passing(100);
  const shown = await lines();
  expect(shown).toHaveLength(7);
  expect(shown.at(-1)).toBe('  and 2 more');
  expect(await broken()).toEqual([]);
  view.close();
});

test.each([
  [{}, 'scalr-agent status'],
  [{SCALR_AGENT_INSTALL_NAMESPACE: 'other'}, 'scalr-agent status --namespace scalr-agent'],
])('a next step repeats a default only if a variable changes it: %j', (env, command) => {
  const program = {install: 'scalr-agent install', other: 'scalr-agent'};
  const steps = nextSteps({name: NAME, isForVcs: false, isLinked: true, program, env});
  expect(steps[0]?.[0]).toBe(command);
});

test('a screen reader hears words instead of marks, and nothing is repainted', async () => {
  const terminal = viewOn(80, 24, {isLive: false, isAccessible: true});
  const {after} = await installOn(terminal);
  expect(after.slice(0, 8)).toMatchInlineSnapshot(`
    [
      "Installing agent-job 0.6.5 as release scalr-agent",
      "Done: Create Secret scalr-agent-token (0.4 s)",
      "Done: Install agent-job 0.6.5 as release scalr-agent (2.1 s)",
      "Waiting: deployment/scalr-agent: 0 of 1 ready, waiting for a node",
      "Waiting: deployment/scalr-agent: 0 of 1 ready, pulling the image",
      "  Warning: PENDING  pvc/scalr-agent-cache: no StorageClass efs-sc in this",
      "           cluster, so no volume is created",
      "Done: deployment/scalr-agent: 1 of 1 ready (7.5 s)",
    ]
  `);
});
