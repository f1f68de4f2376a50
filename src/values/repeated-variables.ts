import {CHARTS} from '../charts/charts.ts';
import type {Container, Target} from '../charts/define.ts';
import {oncePerRelease, within} from '../charts/releases.ts';
import {VARIABLES_OF_SETTINGS} from '../charts/shared-rows.ts';
import {at, getAt, isMap, sameTree, startsWith, type Values} from '../charts/tree.ts';
import {ExitCode, ExpectedError} from '../errors.ts';
import {set} from '../settings/escape-hatch.ts';
import type {Rendered} from './render.ts';

/** A variable that a container would get twice. */
export interface RepeatedVariable {
  name: string;
  container: string;
  /** The map or list of extra variables that holds the name. */
  path: string;
}

/**
 * Every variable may stand once in a container: Helm 4 refuses the second, Helm 3 may lose both later
 * (helm/helm#31529; docs/charts/README.md, "Environment variables").
 */
export function repeatedVariables(values: Values, {chart, version}: Target): RepeatedVariable[] {
  return containersOf({chart, version}).flatMap(({name: container, extraEnv, own}) => {
    const given = extraEnv.flatMap((path) => namesAt(values, path).map((name) => ({name, container, path})));
    return given.filter(({name}, index) => own.has(name) || given.findIndex((each) => each.name === name) !== index);
  });
}

type Owning = Container & {own: ReadonlySet<string>};

const containersOf = oncePerRelease(({chart, version}: Target): readonly Owning[] => {
  const {containers, ownVariables} = CHARTS[chart];
  const own = new Set(ownVariables.filter((each) => within(version, each.in)).map(({name}) => name));
  return containers.filter((each) => within(version, each.in)).map((each) => ({...each, own: each.own ?? own}));
});

/** @throws ExpectedError for a repeated variable, and for one that --set writes although a setting does */
export function refuseRepeatedVariables({values, origins}: Pick<Rendered, 'values' | 'origins'>, target: Target): void {
  const {chart, version} = target;
  const [twice] = repeatedVariables(values, target);
  if (twice !== undefined)
    throw repeated(
      `${chart} ${version} would set ${twice.name} twice in the ${twice.container}`,
      'Leave it out, or set the key of the chart with --set',
    );
  const byHand = containersOf(target).flatMap(({extraEnv}) => extraEnv.flatMap((path) => setByHand(path, values, origins)));
  const bypassed = byHand.find((name) => VARIABLES_OF_SETTINGS.has(name));
  if (bypassed !== undefined)
    throw repeated(`${bypassed} has a setting of its own`, `Use --${VARIABLES_OF_SETTINGS.get(bypassed)} instead of --set`);
}

const repeated = (message: string, suggestion: string): ExpectedError =>
  new ExpectedError(`${message}.`, {code: 'RESERVED_VARIABLE', exit: ExitCode.usage, suggestions: [suggestion]});

/** Names in a map of variables or in a list of Kubernetes' own form. */
function namesAt(values: Values, path: Container['extraEnv'][number]): string[] {
  const found = getAt(values, at(path));
  if (Array.isArray(found)) return found.flatMap((each) => (isMap(each) ? [String(each['name'])] : []));
  return isMap(found) ? Object.keys(found) : [];
}

/** The names that --set wrote. */
function setByHand(path: string, values: Values, origins: Rendered['origins']): string[] {
  const paths = origins.filter(({setting}) => setting === set).map((origin) => origin.path);
  return namesAt(values, path).filter((name) =>
    paths.some((each) => sameTree(each, [...at(path), name]) || (each.length <= at(path).length && startsWith(at(path), each))),
  );
}
