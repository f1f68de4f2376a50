import type {Registries} from '../../ground/system/system.ts';
import {set, valuesFile} from '../../settings/chart-values.ts';
import {agentImage, imageRegistry, runnerImage} from '../../settings/images.ts';
import {MANIFEST_TYPES, manifestUrl} from '../../settings/kinds/images.ts';
import {flagsOf} from '../../settings/settings.ts';
import type {GeneratedValues} from '../../values/generate.ts';
import {imagesIn} from '../../values/images.ts';
import {effectiveGet, effectiveValues} from '../../values/reading/read-values.ts';
import type {Mirror} from './facts/context.ts';

/** Asks --image-registry for every image of the install; undefined without this setting. */
export async function readMirror(
  {settings, effective, target, values}: GeneratedValues,
  {registries, signal}: {registries: Registries; signal: AbortSignal},
): Promise<Mirror | undefined> {
  const registry = effectiveGet(settings, effective)(imageRegistry);
  if (registry === undefined) return undefined;
  const images = imagesIn(registry, effectiveValues(values, target), target);
  const answered = images.map(async (image) => ({
    image,
    answer: await registries.manifest(manifestUrl(image), MANIFEST_TYPES, signal),
  }));
  const given = settings
    .entries()
    .filter(({setting}) => SELECT_IMAGES.includes(setting.id) && settings.isExplicit(setting));
  return {
    images: await Promise.all(answered),
    flags: [
      `--${imageRegistry.id} ${registry}`,
      ...given.flatMap(({setting, answer}) => flagsOf(setting, answer)),
    ],
  };
}

const SELECT_IMAGES: readonly string[] = [agentImage, runnerImage, valuesFile, set].map(
  ({id}) => id,
);
