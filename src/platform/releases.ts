import {scalrChart} from '../charts/define.ts';
import {hideSecretValues} from '../charts/hidden-values.ts';
import type {ChartName} from '../charts/schema.ts';
import {type Fact, follow, known} from '../ground/fact.ts';
import type {Values} from '../ground/tree.ts';
import type {PlatformReadings} from './readings.ts';

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

export const scalrReleasesOf = ({releases}: Pick<PlatformReadings, 'releases'>): Fact<ScalrReleases> =>
  follow(releases, ({scope, releases: all}, source) =>
    known(
      {
        scope,
        releases: all.flatMap(({name, namespace, status, chart, values}) => {
          const ours = scalrChart(chart);
          const shown = follow(values, (given, from): Fact<Values> => known(hideSecretValues(given), from));
          return ours ? [{name, namespace, ...ours, status, values: shown}] : [];
        }),
      },
      source,
    ),
  );

/** Generations of the definitions of agent-job that are served; Helm never removes one. */
export const servedDefinitions = ({resources}: Pick<PlatformReadings, 'resources'>): Fact<readonly string[]> =>
  follow(resources, (all, source) =>
    known(
      DEFINITIONS.filter((name) => all.includes(name)),
      source,
    ),
  );

/** What agent-job brought over the years: up to 0.5.63, up to 0.5.67, and since. */
export const DEFINITIONS: readonly string[] = ['agentworkers.scalr.io', 'atasks.scalr.io', 'agenttasktemplates.scalr.io'];
