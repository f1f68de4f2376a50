import {compare} from '../charts/releases.ts';
import type {ChartName} from '../charts/schema.ts';
import {listReleases} from '../helm/helm.ts';
import {allContexts, listNamespaces} from '../kubernetes/kubectl.ts';
import type {Place} from '../ports/place.ts';
import type {Call} from '../ports/processes.ts';
import {chart, namespace} from '../settings/release.ts';
import type {Candidate, LiveFlag} from './candidates.ts';
import type {Line} from './line.ts';

/** What a tool answers, of its own path where it is not on PATH; undefined when it cannot or does not in time. */
export type Ask = (call: Call, path: string | undefined) => Promise<string | undefined>;
type Environment = Readonly<Record<string, string | undefined>>;

export function liveValues(ask: Ask, env: Environment): Readonly<Record<LiveFlag, (line: Line) => Promise<readonly Candidate[]>>> {
  const answer = (call: Call, line: Line) => ask(call, said(line, call.tool));
  return {
    namespace: async (line) => {
      const names = await answer(listNamespaces(placeOf(line, env), 1), line);
      return lines(names).map((name) => ({value: name.replace(/^namespace\//, ''), description: ''}));
    },
    'kube-context': async (line) => {
      const {contexts} = parsed<{contexts?: Named[] | null}>(await answer(allContexts(placeOf(line, env)), line)) ?? {};
      return (contexts ?? []).map(({name, context}) => ({value: name, description: context?.cluster ? `Cluster ${context.cluster}` : ''}));
    },
    release: async (line) => {
      const releases = parsed<Release[]>(await answer(listReleases(placeOf(line, env), {everywhere: false}), line));
      return (releases ?? []).map(({name, chart: of, status}) => ({value: name, description: `${of}, ${status}`}));
    },
    'chart-version': async (line) => versions(said(line, chart.id) ?? env[chart.env]),
  };
}

interface Named {
  name: string;
  context?: {cluster?: string};
}

interface Release {
  name: string;
  chart: string;
  status: string;
}

const said = ({given}: Line, flag: string): string | undefined => given.get(flag)?.at(-1);

function placeOf(line: Line, env: Environment): Place {
  const [kubeContext, kubeconfig] = [said(line, 'kube-context'), said(line, 'kubeconfig')];
  return {
    namespace: said(line, namespace.id) ?? env[namespace.env] ?? (namespace.fallback?.(() => undefined) as string),
    ...(kubeContext ? {kubeContext} : {}),
    ...(kubeconfig ? {kubeconfig} : {}),
  };
}

const lines = (text = ''): string[] => text.split('\n').filter((line) => line !== '');

function parsed<T>(text: string | undefined): T | undefined {
  try {
    return text === undefined ? undefined : (JSON.parse(text) as T);
  } catch {
    // helm and kubectl may be something else altogether under these names.
    return undefined;
  }
}

/** The newest first; of all charts where none is named. */
async function versions(wanted: string | undefined): Promise<Candidate[]> {
  const {releasesOf} = await import('../charts/target.ts');
  const names = (chart.kind.options ?? []) as readonly ChartName[];
  const versionsOf = new Map<string, ChartName[]>();
  for (const name of names.filter((each) => wanted === undefined || each === wanted)) {
    for (const version of releasesOf(name)) versionsOf.set(version, [...(versionsOf.get(version) ?? []), name]);
  }
  return [...versionsOf]
    .toSorted(([one], [other]) => compare(other, one))
    .map(([value, charts]) => ({value, description: charts.join(', ')}));
}
