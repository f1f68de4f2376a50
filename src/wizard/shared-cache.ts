import type {StorageClass} from '../cluster/platform/cluster-facts.ts';
import type {AccessMode} from '../cluster/platform/provisioners.ts';
import {isKnown} from '../ground/fact.ts';
import type {Choice} from '../ground/system/system.ts';
import {ACCESS_MODES, cache, cacheAccessMode, cacheStorageClass} from '../settings/cache.ts';
import {cloud} from '../settings/cluster.ts';
import type {Setting} from '../settings/define.ts';
import {type KnownFacts, requirementsOf} from './gathered-facts.ts';
import {chartDefaultOf, whyExcluded} from './possible-answers.ts';
import type {WizardState} from './wizard-state.ts';

const SHARED = 'ReadWriteMany';

const classesOf = ({cluster}: KnownFacts): readonly StorageClass[] => cluster?.storageClasses ?? [];

/** The StorageClass of the new PVC; undefined if it is not known. */
const classOfCache = ({answers}: WizardState, known: KnownFacts): StorageClass | undefined => {
  const chosen = answers.get(cacheStorageClass);
  const isMeant = ({name, isDefault}: StorageClass) =>
    chosen === undefined ? isDefault : name === chosen;
  return classesOf(known).find(isMeant);
};

/** True if the provisioner is known, and does not support the access mode. */
const cannot = ({accessModes}: StorageClass, mode: string): boolean =>
  isKnown(accessModes) && !accessModes.value.includes(mode as AccessMode);

/** Why only a volume for several nodes is possible; undefined if another one is. */
function whyShared(view: WizardState, known: KnownFacts): string | undefined {
  const ofPvc = {...view, answers: view.answers.with(cache, {value: 'pvc', source: 'prompt'})};
  const reasons = ACCESS_MODES.filter((mode) => mode !== SHARED).map((mode) =>
    whyExcluded(cacheAccessMode, mode, ofPvc, requirementsOf(known)),
  );
  return reasons.every((each) => each !== undefined) ? reasons[0] : undefined;
}

const modesText = ({accessModes}: StorageClass): string =>
  isKnown(accessModes) ? accessModes.value.join(', ') : 'access modes unknown';

const onlyText = (each: StorageClass): string =>
  `${each.provisioner} supports only ${modesText(each)}`;

/** Why the StorageClasses of the cluster exclude the value. */
export function whyNotInCluster(
  setting: Setting,
  value: unknown,
  view: WizardState,
  known: KnownFacts,
): string | undefined {
  const {answers} = view;
  if (setting === (cache as Setting) && value === 'pvc') return whyNoPvc(view, known);
  if (setting === (cache as Setting) && value === 'efs') return whyNoEfs(view, known);
  if (setting !== (cacheAccessMode as Setting) || answers.get(cache) !== 'pvc') return undefined;
  const found = classOfCache(view, known);
  return found !== undefined && cannot(found, String(value))
    ? `not with StorageClass ${found.name}: ${onlyText(found)}`
    : undefined;
}

/** True if the chart default is the only access mode that is possible. */
export function isModeDecided(view: WizardState, known: KnownFacts): boolean {
  const facts = requirementsOf(known);
  const possible = ACCESS_MODES.filter(
    (mode) =>
      whyNotInCluster(cacheAccessMode, mode, view, known) === undefined &&
      whyExcluded(cacheAccessMode, mode, view, facts) === undefined,
  );
  return possible.length === 1 && possible[0] === chartDefaultOf(cacheAccessMode, view, facts);
}

/** A PVC that several pods mount needs a class for it. */
function whyNoPvc(view: WizardState, known: KnownFacts): string | undefined {
  const classes = classesOf(known);
  if (classes.length === 0 || !classes.every((each) => cannot(each, SHARED))) return undefined;
  return whyShared(view, known) === undefined
    ? undefined
    : 'several pods mount the cache, and no StorageClass here supports ReadWriteMany';
}

const EFS = 'efs.csi.aws.com';

/** Without the driver, no volume of EFS can be mounted. */
function whyNoEfs({answers}: WizardState, known: KnownFacts): string | undefined {
  const hasDriver = classesOf(known).some(({provisioner}) => provisioner === EFS);
  return known.cluster?.isRead && answers.get(cloud) !== 'eks' && !hasDriver
    ? 'the cluster is not on AWS, or has no EFS CSI driver'
    : undefined;
}

/** The StorageClasses of the cluster; those are disabled that cannot hold the cache of the likely chart. */
export function classChoices(view: WizardState, known: KnownFacts): Choice[] {
  const isShared = whyShared(view, known) !== undefined;
  return classesOf(known).map((each) => ({
    value: each.name,
    label: each.isDefault ? `${each.name} (default)` : each.name,
    ...(isShared && cannot(each, SHARED)
      ? {disabled: `${onlyText(each)}, and several pods mount the cache`}
      : {description: `${each.provisioner}: ${modesText(each)}`}),
  }));
}

/** The row for the default StorageClass. */
export function defaultClassRow(
  view: WizardState,
  known: KnownFacts,
): {orElseMeaning?: string; orElseDisabled?: string} {
  const classes = classesOf(known);
  if (classes.length === 0) return {};
  const found = classes.find(({isDefault}) => isDefault);
  if (found === undefined) return {orElseDisabled: 'the cluster has none'};
  return cannot(found, SHARED) && whyShared(view, known) !== undefined
    ? {orElseDisabled: `${onlyText(found)}, and several pods mount the cache`}
    : {orElseMeaning: found.name};
}

/** A class that several nodes can mount. */
export const sharedClassOf = (known: KnownFacts): StorageClass | undefined =>
  classesOf(known).find(
    ({accessModes}) => isKnown(accessModes) && accessModes.value.includes(SHARED),
  );
