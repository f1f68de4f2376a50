import type {Target} from '../../charts/define.ts';
import {at, getAt, isMap, type Tree} from '../../charts/tree.ts';
import {ignoredIn} from '../ignored.ts';
import {repeatedVariables} from '../repeated-variables.ts';
import {dotted, type Finding} from './finding.ts';
import type {Held} from './held.ts';
import type {Source} from './source.ts';

/** Keys that are accepted and do nothing. */
export const checkIgnored = ({values, effective, locate}: Held, target: Target): Finding[] =>
  ignoredIn(values, effective, target).map(({path, because, instead}) => ({
    severity: 'error',
    code: 'IGNORED_KEY',
    path,
    ...(locate(at(path)) ?? {}),
    message: `This does nothing in ${target.chart} ${target.version}: ${because}.`,
    ...(instead ? {suggestion: instead} : {}),
  }));

/** Variables that would stand twice in a container. */
export function checkRepeated({values, locate}: Source, target: Target): Finding[] {
  const found = repeatedVariables(values, target).map(({name, container, path}) => {
    const key = [...at(path), keyOf(name, getAt(values, at(path)))];
    return {key, message: `${target.chart} ${target.version} would set ${name} twice in the ${container}.`};
  });
  // A map may end up in several containers; one finding says enough.
  const first = found.filter(({key}, index) => found.findIndex((each) => dotted(each.key) === dotted(key)) === index);
  return first.map(({key, message}) => ({
    severity: 'error',
    code: 'REPEATED_VARIABLE',
    path: dotted(key),
    ...locate(key),
    message,
    suggestion: 'Leave it out, or use the key of the chart',
  }));
}

const keyOf = (name: string, variables: Tree | undefined): string | number =>
  Array.isArray(variables) ? variables.findLastIndex((each) => isMap(each) && each['name'] === name) : name;
