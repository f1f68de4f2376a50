import type {ChartRequirements} from '../charts/recommend.ts';
import type {StorageClass} from '../cluster/platform/cluster-facts.ts';
import type {AccessMode} from '../cluster/platform/provisioners.ts';
import {isKnown} from '../ground/fact.ts';
import type {Choice} from '../ground/system/system.ts';
import {ACCESS_MODES, cache, cacheAccessMode, cacheStorageClass} from '../settings/cache.ts';
import type {Setting} from '../settings/define.ts';
import type {AnswerStore} from './answer-store.ts';
import {whyExcludedNow} from './possible-answers.ts';

type Classes = readonly StorageClass[];

const SHARED = 'ReadWriteMany';

/** The StorageClass of the new PVC; undefined if it is not known. */
const classOfCache = (store: AnswerStore, classes: Classes): StorageClass | undefined => {
  const chosen = store.get(cacheStorageClass);
  return classes.find(({name, isDefault}) => (chosen === undefined ? isDefault : name === chosen));
};

/** True if the provisioner is known, and does not support the access mode. */
const cannot = ({accessModes}: StorageClass, mode: string): boolean =>
  isKnown(accessModes) && !accessModes.value.includes(mode as AccessMode);

/** Why only a volume for several nodes is possible; undefined if another one is. */
function whyShared(store: AnswerStore, facts: ChartRequirements): string | undefined {
  const reasons = ACCESS_MODES.filter((mode) => mode !== SHARED).map((mode) =>
    whyExcludedNow(cacheAccessMode, mode, store, facts),
  );
  return reasons.every((each) => each !== undefined) ? reasons[0] : undefined;
}

const modesText = ({accessModes}: StorageClass): string =>
  isKnown(accessModes) ? accessModes.value.join(', ') : 'access modes unknown';

const aboutClass = (each: StorageClass): string => `${each.provisioner}: ${modesText(each)}`;

const onlyText = (each: StorageClass): string =>
  `${each.provisioner} supports only ${modesText(each)}`;

/** Why the StorageClass of the new PVC cannot have this access mode. */
export function whyNotOnClass(
  setting: Setting,
  mode: unknown,
  store: AnswerStore,
  classes: Classes,
): string | undefined {
  if (setting !== (cacheAccessMode as Setting) || store.get(cache) !== 'pvc') return undefined;
  const found = classOfCache(store, classes);
  return found !== undefined && cannot(found, String(mode))
    ? `not with StorageClass ${found.name}: ${onlyText(found)}`
    : undefined;
}

/** The StorageClasses of the cluster; those are disabled that cannot hold the cache of the likely chart. */
export function classChoices(
  store: AnswerStore,
  classes: Classes,
  facts: ChartRequirements,
): Choice[] {
  const isShared = whyShared(store, facts) !== undefined;
  return classes.map((each) => ({
    value: each.name,
    label: each.isDefault ? `${each.name} (default)` : each.name,
    ...(isShared && cannot(each, SHARED)
      ? {disabled: `not possible here: ${onlyText(each)}, and several pods mount the cache`}
      : {description: aboutClass(each)}),
  }));
}

/** The row for the default StorageClass. */
export function defaultClassRow(
  store: AnswerStore,
  classes: Classes,
  facts: ChartRequirements,
): {orElseMeaning?: string; orElseDisabled?: string} {
  if (classes.length === 0) return {};
  const found = classes.find(({isDefault}) => isDefault);
  if (found === undefined) return {orElseDisabled: 'the cluster has none'};
  return cannot(found, SHARED) && whyShared(store, facts) !== undefined
    ? {orElseDisabled: `not possible here: ${onlyText(found)}, and several pods mount the cache`}
    : {orElseMeaning: found.name};
}

/** Why an answer about the PVC that was given before no longer fits; one of an installed release always does. */
export function cacheConflict(
  setting: Setting,
  store: AnswerStore,
  classes: Classes,
  facts: ChartRequirements,
): string | undefined {
  if (store.get(cache) !== 'pvc' || !store.asked.has(setting.id) || store.isFixed(setting))
    return undefined;
  if (store.installed !== undefined && isOfInstalled(store)) return undefined;
  const mode = store.get(cacheAccessMode);
  if (setting === (cacheAccessMode as Setting) && mode !== undefined)
    return (
      whyNotOnClass(setting, mode, store, classes) ?? whyExcludedNow(setting, mode, store, facts)
    );
  if (setting !== (cacheStorageClass as Setting)) return undefined;
  const found = classOfCache(store, classes);
  return found !== undefined && cannot(found, SHARED) ? whyShared(store, facts) : undefined;
}

const ABOUT_CACHE: readonly Setting[] = [cache, cacheAccessMode, cacheStorageClass];

const isOfInstalled = ({installed, answer}: AnswerStore): boolean =>
  ABOUT_CACHE.every((each) => installed?.get(each.id) === answer(each)?.value);
