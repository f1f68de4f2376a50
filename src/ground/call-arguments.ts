import type {
  Call,
  CalledResource,
  ChartReference,
  HelmCall,
  HelmVerb,
  KubectlCall,
} from './call.ts';
import {CHART_REPOSITORY, type ClusterTarget, commandLine} from './command-line.ts';

/** The arguments of the tool. */
export function argumentsOf(call: Call): readonly string[] {
  if ('args' in call) return call.args;
  return call.tool === 'helm' ? helmArguments(call) : kubectlArguments(call);
}

function kubectlArguments(call: KubectlCall): string[] {
  const {verb, resources = [], selector, fields, waitsFor, flags = [], kubeTarget} = call;
  return [
    ...verb.split(' '),
    ...(call.isDryRun ? ['--dry-run=server'] : []),
    ...(waitsFor ? [`--for=${waitsFor}`] : []),
    ...resourceArguments(resources),
    ...(selector === undefined ? [] : [`--selector=${selector}`]),
    ...(fields === undefined ? [] : [`--field-selector=${fields}`]),
    ...flags,
    ...(call.requestTimeout === undefined ? [] : [`--request-timeout=${call.requestTimeout}`]),
    ...(call.input === undefined ? [] : ['--filename', '-']),
    ...targetFlags(kubeTarget, '--context').flat(),
  ];
}

/** `secret/token`, or `jobs,pods` for all objects of kinds. */
function resourceArguments(resources: readonly CalledResource[]): string[] {
  const kinds = resources.flatMap(({kind, name}) => (name === undefined ? [kind] : []));
  const objects = resources.flatMap(({kind, name}) =>
    name === undefined ? [] : [`${kind}/${name}`],
  );
  return kinds.length === 0 ? objects : [kinds.join(','), ...objects];
}

function helmArguments({verb, release, revision, chart, flags = [], input, kubeTarget}: HelmCall) {
  return [
    ...verb.split(' '),
    ...(release === undefined ? [] : [release]),
    ...(chart === undefined ? [] : [chartName(chart), ...chartFlags(chart).flat()]),
    ...revisionArguments(verb, revision),
    ...flags,
    ...(input === undefined ? [] : ['--values', '-']),
    ...(kubeTarget === undefined ? [] : targetFlags(kubeTarget, '--kube-context').flat()),
  ];
}

export const chartName = ({chart, source}: ChartReference): string => source ?? chart;

/** Flags of helm that select the version of a chart, each with its value. */
export function chartFlags({version, source, keyring}: ChartReference): string[][] {
  const isInRegistry = source?.startsWith('oci://') === true;
  return [
    ...(source === undefined ? [['--repo', CHART_REPOSITORY]] : []),
    ...(source === undefined || isInRegistry ? [['--version', version]] : []),
    ...(keyring === undefined ? [] : [['--verify'], ['--keyring', keyring]]),
  ];
}

function revisionArguments(verb: HelmVerb, revision: number | undefined): string[] {
  if (revision === undefined) return [];
  return verb === 'rollback' ? [String(revision)] : ['--revision', String(revision)];
}

/** Flags of kubectl (`--context`) or helm that select a namespace, each with its value. */
export const targetFlags = (
  {namespace, kubeContext, kubeconfig}: ClusterTarget,
  contextFlag: '--context' | '--kube-context',
): string[][] => [
  ['--namespace', namespace],
  ...(kubeContext ? [[contextFlag, kubeContext]] : []),
  ...(kubeconfig ? [['--kubeconfig', kubeconfig]] : []),
];

/** A call in shell syntax; standard input is only described, in a comment. */
export function callText(call: Call): string {
  const command = commandLine({tool: call.tool, args: argumentsOf(call)});
  if (call.input === undefined) return command;
  const what = call.tool === 'helm' ? 'values' : 'an object that may contain a secret';
  return `${command} # reads ${what} from standard input`;
}
