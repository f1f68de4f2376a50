import type {KubernetesObject, Pod} from '../cluster/objects.ts';

/** As Scalr gives them to runs and to what they consist of. */
const ID = /(?<![^-.])(run|atask)-(?!run-)[a-z0-9]+(?![^-.])/;

/** The id of a run stands whole in the names of its Job and pods, or it is a label or a variable of theirs. */
export const hasRunId = ({metadata, spec}: Pod, run: string): boolean =>
  isInName(metadata.name, run) ||
  Object.values(metadata.labels ?? {}).includes(run) ||
  [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])].some(({env}) => env?.some(({value}) => value === run));

/** Between dashes, dots and the ends of the name: run-abc1 is not in run-abc12. */
export const isInName = (name: string, run: string): boolean => parts(name).includes(parts(run));

const parts = (name: string): string => `-${name.replaceAll('.', '-')}-`;

/** Undefined where it shows in nothing. */
export function runIdOf({metadata: {name, labels}}: KubernetesObject): string | undefined {
  const label = Object.values(labels ?? {}).find((value) => ID.exec(value)?.[0] === value);
  return label ?? ID.exec(name)?.[0];
}
