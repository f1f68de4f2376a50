import {Flags, Parser} from '@oclif/core';
import {describe, expect, test} from 'vitest';
import {commandIn, isTopic} from '../docs/commands.ts';
import {commandsIn, isFailure, type PrintedCommand} from '../support/commands-in.ts';
import {DOCS, HELPED, LITERALS, OUTPUTS, printedIn, VERBS} from '../support/printed-commands.ts';

const outputs = printedIn(OUTPUTS);
const docs = printedIn(DOCS);

/** What lies in no namespace, or names it itself. */
const CLUSTER_WIDE =
  /^kubectl (?:cluster-info|auth|config|uncordon|debug node|apply (?:--server-side|--filename roles\.yaml)|get --raw|\w+ (?:--\S+ )?(?:namespace|node|crd|storageclass|securitycontextconstraints|clusterrole|persistentvolume\b|apiservice))/;
const CHART_ONLY = /^helm (?:show|pull)\b/;
const PLACEHOLDER =
  /<[a-zA-Z_-]+>|\b(?:NAME|NAMESPACE|POD|NODE|CONTAINER|PVC|USER|YOU|IMAGE|FILE|RELEASE|VERSION)\b/;

const problemIn = ({text, tool}: Pick<PrintedCommand, 'text' | 'tool'>): string | undefined => {
  if (PLACEHOLDER.test(text)) return 'has a placeholder';
  if (tool !== 'kubectl' && tool !== 'helm') return undefined;
  const isPlaced =
    / --(?:namespace|all-namespaces)\b/.test(text) ||
    CLUSTER_WIDE.test(text) ||
    CHART_ONLY.test(text);
  return isPlaced || !VERBS.test(text) ? undefined : 'lacks --namespace';
};

test('commands that a run prints need nothing filled in, and name their namespace', () => {
  const helped = HELPED.filter(([, {isWhole}]) => isWhole).map(([source, {tool, args}]) => ({
    source,
    tool,
    text: [tool, ...args].join(' '),
  }));
  const printed = [...outputs.filter((each) => !isFailure(each)), ...helped];
  expect(outputs.length).toBeGreaterThan(50);
  expect(helped.length).toBeGreaterThan(20);
  expect(
    printed.flatMap((each) =>
      problemIn(each) ? [`${each.source}: ${each.text}: ${problemIn(each)}`] : [],
    ),
  ).toEqual([]);
});

test.each([
  ['Look: kubectl describe pod a', 'lacks --namespace'],
  ['- kubectl describe pod <POD> --namespace b', 'has a placeholder'],
  ['Try: kubectl create rolebinding x --user=YOU --namespace b', 'has a placeholder'],
  ['See: helm history a', 'lacks --namespace'],
  ["Try: kubectl label pod a 'b=c d' --namespace b; or wait", undefined],
])('a mistake is seen: %s', (text, problem) => {
  const [command] = commandsIn(text);
  expect(problemIn(command as PrintedCommand)).toBe(problem);
});

/** Texts without a cluster to name: help of questions, and names of what was asked. */
const WITHOUT_CLUSTER = [
  'Flags --kube-context NAME and --kubeconfig FILE. List contexts with kubectl config get-contexts.',
  'Requires Kubernetes 1.35 or newer on the control plane and on all nodes. Check with `kubectl get nodes`.',
  'Use a chart directory, or a .tgz file from helm pull',
  'helm get values X',
  'helm list --all-namespaces',
  'helm list --namespace X',
  'helm template',
  'kubectl config view',
  // For an unknown command, whose release is not known.
  'Run: kubectl rollout restart deployment,daemonset --selector app.kubernetes.io/instance=RELEASE --namespace NAMESPACE',
  'Run: helm rollback RELEASE --namespace NAMESPACE',
  'Run: helm history RELEASE --namespace NAMESPACE',
  'List them with `kubectl get storageclass`. If several pods share the cache, the StorageClass must support ReadWriteMany.',
];

/** No command to run. */
const MENTION = /(?:as|which|with) (?:kubectl|helm) \w+/g;

test('the source spells no command of kubectl and helm itself: helpers add namespace and context', () => {
  const spelled = LITERALS.filter(
    ([, text]) => VERBS.test(text.replace(MENTION, '')) && !WITHOUT_CLUSTER.includes(text),
  );
  expect(spelled.map(([file, text]) => `${file}: ${text}`)).toEqual([]);
});

/** Every command has them from oclif. */
const ROOT_FLAGS = {json: Flags.boolean(), help: Flags.boolean()};

/** The Linux package of the agent has a program of the same name. */
const OF_THE_PACKAGE = 'scalr-agent configure --user=root';

describe('commands of this program', () => {
  const own = [...outputs, ...docs, ...printedIn(LITERALS)].filter(
    ({tool, args, text}) =>
      (tool === 'scalr-agent' || args[0] === 'scalr-agent-install') &&
      !/ \[|^scalr-agent (?:has|is|needs|X|-)/.test(text) &&
      text !== OF_THE_PACKAGE,
  );

  test.each([...new Map(own.map((each) => [each.text, each])).values()])('$text', async ({
    tool,
    args,
  }) => {
    const words = args[0] === 'help' ? args.slice(1) : args;
    const typed = tool === 'npx' ? ['install', ...args.slice(1)] : words;
    const {found, rest} = commandIn(typed);
    expect(found !== undefined || isTopic(typed)).toBe(true);
    // A name alone is a mention.
    if (found === undefined || rest.length === 0) return;
    const {flags, baseFlags, args: takes, strict} = found.command;
    const parsed = Parser.parse([...rest], {
      flags: {...ROOT_FLAGS, ...baseFlags, ...flags},
      args: takes,
      strict,
    });
    // What stands for any word need not be one that the flag knows.
    await parsed.catch((error: Error) => expect(error.message).toMatch(/^Expected (?:X|[A-Z]+) /));
  });
});
