import type {ChartName} from '../../charts/schema.ts';
import {isMap, type Tree, type Values} from '../../charts/tree.ts';
import {maskSecrets} from '../../errors.ts';
import {DEFINITIONS} from '../inventory.ts';
import {type Fact, follow, known} from './fact.ts';
import type {Readings} from './readings.ts';

/** A Helm release of one of the three charts. */
export interface ScalrRelease {
  name: string;
  namespace: string;
  chart: ChartName;
  version: string;
  /** deployed, failed, pending-install, pending-upgrade, pending-rollback or uninstalling */
  status: string;
  /** What was given to helm; secrets and the values of environment variables are hidden. */
  values: Fact<Values>;
}

export interface ScalrReleases {
  /** The whole cluster, or only the namespace if permissions do not allow more. */
  scope: 'cluster' | 'namespace';
  releases: readonly ScalrRelease[];
}

export const scalrChart = (chart: string): {chart: ChartName; version: string} | undefined => {
  const [, name, version] = /^(agent-(?:k8s|local|job))-(\d.*)$/.exec(chart) ?? [];
  return name === undefined || version === undefined ? undefined : {chart: name as ChartName, version};
};

export const scalrReleasesOf = ({releases}: Pick<Readings, 'releases'>): Fact<ScalrReleases> =>
  follow(releases, ({scope, releases: all}, source) =>
    known(
      {
        scope,
        releases: all.flatMap(({name, namespace, status, chart, values}) => {
          const ours = scalrChart(chart);
          const shown = follow(values, (given, from): Fact<Values> => known(hideSecrets(given), from));
          return ours ? [{name, namespace, ...ours, status, values: shown}] : [];
        }),
      },
      source,
    ),
  );

/** Generations of the definitions of agent-job that are served; Helm never removes one. */
export const definitionsOf = ({resources}: Pick<Readings, 'resources'>): Fact<readonly string[]> =>
  follow(resources, (all, source) =>
    known(
      DEFINITIONS.filter((name) => all.includes(name)),
      source,
    ),
  );

export const HIDDEN = '[hidden]';
const SECRET_KEY = /^(token|client_?key|.*password|.*private_?key)$/i;

/** Boolean settings of the agent, which a diff must show. */
const PLAIN_VARIABLES: ReadonlySet<unknown> = new Set(['SCALR_AGENT_DEBUG']);

/** The charts take tokens and keys inline, and environment variables may hold anything. */
export const hideSecrets = (values: Values): Values => hideIn(values) as Values;

function hideIn(tree: Tree): Tree {
  if (typeof tree === 'string') return maskSecrets(tree);
  if (Array.isArray(tree)) return tree.map(hideIn);
  if (!isMap(tree)) return tree;
  const isVariable = typeof tree['name'] === 'string';
  return Object.fromEntries(
    Object.entries(tree).map(([key, below]) => {
      const isOfVariable = isVariable && key === 'value' && !PLAIN_VARIABLES.has(tree['name']);
      const isSecret = isText(below) && (SECRET_KEY.test(key) || isOfVariable);
      return [key, isSecret ? HIDDEN : /env$/i.test(key) && isMap(below) ? hideAll(below) : hideIn(below)];
    }),
  );
}

const isText = (tree: Tree): boolean => (typeof tree === 'string' && tree !== '') || typeof tree === 'number';

const hideAll = (variables: Values): Values =>
  Object.fromEntries(Object.entries(variables).map(([name, value]) => [name, PLAIN_VARIABLES.has(name) && isText(value) ? value : HIDDEN]));
