import type {Target} from '../../charts/define.ts';
import {leafPaths, type Path, sameTree, spellPath, type Values} from '../../charts/tree.ts';
import {dotted, type Finding} from '../validate/finding.ts';
import {validate} from '../validate/validate.ts';
import {toYaml} from '../yaml.ts';
import type {Carried} from './carry.ts';
import {changeOf} from './change.ts';
import {withoutLeaves} from './without-leaves.ts';

/** Drops keys that the target rejects although the old version accepts them. */
export function dropInvalid(before: Values, carried: Carried, from: Target, to: Target): Carried {
  const own = new Set(errorsIn(before, from).map(({code, path}) => `${code} ${path}`));
  let {values, changes, moves} = carried;
  const origin = (path: Path): Path => moves.find((each) => each.to.some((to) => sameTree(to, path)))?.from ?? path;
  // Every round drops at least one key.
  for (let left = leafPaths(values).length; left > 0; left -= 1) {
    const paths = leafPaths(values);
    const found = errorsIn(values, to)
      .map((finding) => ({finding, gone: paths.filter((path) => concerns(finding, path))}))
      .find(({finding, gone}) => gone.length > 0 && !gone.some((path) => own.has(`${finding.code} ${dotted(origin(path))}`)));
    if (found === undefined) break;
    const {finding, gone} = found;
    values = withoutLeaves(values, (path) => gone.some((each) => sameTree(each, path)));
    const sources = [...new Map(gone.map((path) => [spellPath(origin(path)), origin(path)])).values()];
    const names = new Set(sources.map(spellPath));
    const remedy = finding.suggestion;
    changes = [
      ...changes.filter(({kind, path}) => kind !== 'renamed' || !names.has(path)),
      ...sources.map((path) => changeOf('dropped', path, `${to.chart} ${to.version} rejects it: ${finding.message}`, remedy)),
    ];
    moves = moves.map((each) => ({...each, to: each.to.filter((path) => !gone.some((other) => sameTree(other, path)))}));
  }
  return {values, changes, moves: moves.filter((each) => each.to.length > 0)};
}

const errorsIn = (values: Values, target: Target): Finding[] =>
  validate(toYaml(values), target).filter(({severity}) => severity === 'error');

/** True for the key of the finding, and for keys above and below it. */
function concerns(finding: Finding, path: Path): boolean {
  const name = dotted(path);
  const isBelow = (one: string, other: string): boolean => one.startsWith(`${other}.`) || one.startsWith(`${other}[`);
  return finding.path === name || isBelow(finding.path, name) || (finding.path !== '' && isBelow(name, finding.path));
}
