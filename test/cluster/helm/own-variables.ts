import {chartFor} from '../../../src/charts/chart-version.ts';
import type {Target} from '../../../src/charts/releases/target.ts';
import {VARIABLES_OF_SETTINGS} from '../../../src/charts/shared/extra-variables.ts';
import {getAt, isMap} from '../../../src/ground/tree.ts';
import {extraEnv} from '../../../src/settings/chart-values.ts';
import type {Rendered} from './render.ts';

/** Variables that the templates set, without those from extraEnv maps. */
export function variablesOfTemplates({target, generated, containers}: Rendered): string[] {
  const maps = chartFor(target)
    .rows.filter((row) => row.setting === extraEnv)
    .flatMap((row) => row.paths);
  const extra = new Set(
    maps.flatMap((path) => {
      const map = getAt(generated.values, path);
      return isMap(map) ? Object.keys(map) : [];
    }),
  );
  return containers().flatMap(({env}) =>
    env.map(({name}) => name).filter((name) => !extra.has(name)),
  );
}

/** Differences between the table of own variables and the templates of a version, as messages. */
export function disagreements(target: Target, seen: ReadonlySet<string>): string[] {
  const listed = new Set(chartFor(target).ownVariables.map(({name}) => name));
  const unlisted = [...seen].filter(
    (name) => !listed.has(name) && !VARIABLES_OF_SETTINGS.has(name),
  );
  const unseen = [...listed].filter((name) => !seen.has(name));
  return [
    ...unlisted.map((name) => `the templates set ${name}, which ownVariables does not list`),
    ...unseen.map((name) => `ownVariables lists ${name}, which no template sets in any case`),
  ];
}
