import {chartFor} from '../charts/chart-version.ts';
import {imagesOf, selectsImagesOfRuns} from '../charts/images.ts';
import {agentVersionOf} from '../charts/releases/schema.ts';
import type {Target} from '../charts/releases/target.ts';
import {rowsFor} from '../charts/shared/support.ts';
import {scopeOf} from '../charts/support.ts';
import {failed} from '../ground/errors.ts';
import {type SettingFinding, warningOf} from '../ground/finding.ts';
import {textAt, type Values} from '../ground/tree.ts';
import type {Setting} from '../settings/define.ts';
import {imageRegistry, runnerImage} from '../settings/images.ts';
import {namesRegistry, withoutRegistry} from '../settings/kinds/images.ts';
import type {Settings} from '../settings/settings.ts';
import type {GeneratedValues} from './generate.ts';
import {effectiveValues} from './reading/read-values.ts';

export interface InstallImage {
  /** The reference to copy from. */
  image: string;
  /** Known only if the reference contains it. */
  digest?: string;
  used: string[];
  /** The reference of the copy in --image-registry. */
  mirror?: string;
  /** Settings that make the chart use the copy; without --image-registry, those that select the image. */
  settings: {id: string; value: string}[];
}

export interface InstallImages {
  chart: string;
  chartVersion: string;
  agentVersion: string;
  registry?: string;
  images: InstallImage[];
  warnings: SettingFinding[];
}

interface Deps {
  generate(settings: Settings): Promise<GeneratedValues>;
  /** Agent version of the chart in --chart-source. */
  agentVersion?: string | undefined;
}

interface FoundImages extends InstallImages {
  generated: GeneratedValues;
  /** The given settings, with the copies in --image-registry instead of the images. */
  copied: Settings;
}

/** Every image that an install with these settings starts, and how to use copies in --image-registry. @throws ExpectedError */
export async function imagesOfInstall(given: Settings, deps: Deps): Promise<FoundImages> {
  const registry = given.get(imageRegistry);
  const generated = await deps.generate(given.without(imageRegistry));
  const {target, settings} = generated;
  const values = effectiveValues(generated.values, target);
  const agentVersion = deps.agentVersion ?? knownAgentVersion(target);
  const found = imagesOf(values, target, agentVersion);
  const takesRegistry =
    registry !== undefined && isSupported(imageRegistry, registry, given, target);
  const images = new Map<string, InstallImage>();
  let copied = takesRegistry ? given : given.without(imageRegistry);
  for (const {used, setting, reference} of found) {
    const image = withoutRegistry(reference, registry);
    const known = images.get(image);
    const mirror =
      registry === undefined
        ? undefined
        : `${registry}/${pathOf(image, textAt(values, 'global.imageNamespace'))}`;
    const digest = /@(sha256:[0-9a-f]{64})$/.exec(image)?.[1];
    const isOwn = setting !== undefined && given.isExplicit(setting);
    const selects = (value: string) =>
      setting === undefined ? [] : [{setting: setting as Setting, value}];
    // The chart writes the registry in front of the image.
    const selected = takesRegistry
      ? [
          {setting: imageRegistry as Setting, value: registry},
          ...(isOwn && mirror ? selects(mirror.slice(registry.length + 1)) : []),
        ]
      : selects(mirror ?? image);
    if (mirror !== undefined)
      copied = selected.reduce(
        (all, each) => all.with(each.setting, {value: each.value, source: 'flag'}),
        copied,
      );
    images.set(image, {
      image,
      ...(digest === undefined ? {} : {digest}),
      used: [...(known?.used ?? []), used],
      ...(mirror === undefined ? {} : {mirror}),
      settings:
        known?.settings ?? selected.map((each) => ({id: each.setting.id, value: each.value})),
    });
  }
  return {
    chart: target.chart,
    chartVersion: target.version,
    agentVersion,
    ...(registry === undefined ? {} : {registry}),
    images: [...images.values()],
    warnings: selectsImagesOfRuns(values, target) ? [unknownImages(target, settings)] : [],
    generated,
    copied,
  };
}

const isSupported = (
  setting: Setting<string>,
  value: string,
  settings: Settings,
  target: Target,
): boolean =>
  rowsFor(chartFor(target), setting as Setting, value, scopeOf(target, settings.get)).length > 0;

/** Images that pods pull from this registry with these values, which are merged over the chart defaults. Pure. */
export const imagesIn = (registry: string, values: Values, target: Target): string[] => [
  ...new Set(
    imagesOf(values, target, agentVersionOf(target) ?? '')
      .map(({rendered}) => rendered)
      // The tag of an unknown chart is unknown.
      .filter((image) => image.startsWith(`${registry}/`) && !image.endsWith(':')),
  ),
];

function knownAgentVersion(target: Target): string {
  const {chart, version} = target;
  const known = agentVersionOf(target);
  if (known !== undefined) return known;
  throw failed('INVALID_CHART_SOURCE', `The agent version of ${chart} ${version} is unknown.`, [
    'Set --chart-source to the directory or .tgz file of the chart',
  ]);
}

/** Path of the copy below the registry. */
function pathOf(image: string, namespace: string): string {
  const path = namesRegistry(image) ? image.split('/').slice(1).join('/') : image;
  return namespace === '' ? path : `${namespace}/${path.split('/').at(-1)}`;
}

function unknownImages(target: Target, settings: Settings): SettingFinding {
  const fallback = textAt(scopeOf(target, settings.get).defaults, 'agent.container_task_image');
  const advice =
    fallback === ''
      ? 'They cannot be listed; a newer chart version supports --runner-image, one image for all runs.'
      : `They cannot be listed. Use one image for all runs: --${runnerImage.id} ${fallback}`;
  return warningOf(
    'UNKNOWN_IMAGES',
    `agent-k8s uses one runner image per tool and version, for example scalr/terraform:<version>. ${advice}`,
    runnerImage.id,
  );
}
