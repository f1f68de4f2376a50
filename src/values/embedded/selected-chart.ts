import {isMap, type Tree} from '../../ground/tree.ts';
import type {Manifest} from '../reading/manifests.ts';

/** A chart of ours, with or without its repository, or its archive. */
const OURS = /(?:^|\/)agent-(?:k8s|local|job)(?:-\d[^/]*\.tgz)?$/;

/** True for a release of ours in the form of another tool: a field for a chart, or a name beside a repository. Sources of Flux have no values. */
export const selectsChart = ({tree, values}: Manifest): boolean =>
  !String(values['apiVersion']).startsWith('source.toolkit.fluxcd.io/') && selects(tree);

function selects(tree: Tree): boolean {
  if (Array.isArray(tree)) return tree.some(selects);
  if (!isMap(tree)) return false;
  const hasRepository = ['repo', 'repoURL', 'repository', 'url'].some((key) => key in tree);
  return Object.entries(tree).some(([key, value]) =>
    typeof value === 'string'
      ? OURS.test(value) && (/chart/i.test(key) || (key === 'name' && hasRepository))
      : selects(value),
  );
}
