import {getAt, isMap, itemsAt, textAt, type Values} from '../ground/tree.ts';
import type {Setting} from '../settings/define.ts';
import {agentImage, runnerImage} from '../settings/pods.ts';
import {FLAT, NESTED} from './agent-job/versions.ts';
import {GOLDEN} from './agent-k8s/versions.ts';
import type {Target} from './define.ts';
import {within} from './releases.ts';
import {agentVersionOf, type ChartName, defaultsOf, schemaOf} from './schema.ts';

/** What the templates write as the reference of one image. */
interface ImageKeys {
  in?: string;
  used: string;
  setting: Setting<string>;
  /** Map of repository and tag; the first with a repository is used. The default tag is the agent version. */
  at?: readonly string[];
  /** Key of a complete reference. */
  reference?: string;
  /** Condition under which the image is used. */
  when?(values: Values): boolean;
}

const IMAGES: Readonly<Record<ChartName, readonly ImageKeys[]>> = {
  'agent-local': [{used: 'agent', setting: agentImage, at: ['image']}],
  'agent-k8s': [
    {used: 'controller', setting: agentImage, at: ['image']},
    {used: 'worker', setting: agentImage, at: ['image']},
    {used: 'run', setting: runnerImage, in: '0.5.66', reference: 'agent.container_task_image'},
    {
      used: 'run',
      setting: runnerImage,
      in: GOLDEN,
      reference: 'agent.container_task_image',
      when: (values) => textAt(values, 'agent.container_task_image_mode') === 'golden',
    },
  ],
  'agent-job': [
    {used: 'controller', setting: agentImage, in: FLAT, at: ['controller.image']},
    {used: 'worker', setting: agentImage, in: FLAT, at: ['worker.image']},
    {used: 'runner', setting: runnerImage, in: FLAT, at: ['worker.runner.image']},
    {used: 'controller', setting: agentImage, in: NESTED, at: ['agent.image']},
    {used: 'worker', setting: agentImage, in: NESTED, at: ['task.worker.image', 'agent.image']},
    {used: 'entrypoint of runner', setting: agentImage, in: '>=0.5.69', at: ['agent.image']},
    {used: 'runner', setting: runnerImage, in: NESTED, at: ['task.runner.image']},
  ],
};

/** An image that a chart version starts with these values. */
export interface ChartImage {
  used: string;
  /** The setting that selects it; absent for sidecars. */
  setting?: Setting<string>;
  /** The reference in the values, without the registry that the chart prepends. */
  reference: string;
  /** The reference in the manifest. */
  rendered: string;
}

/** Every image that is known before the install. `values` are merged over the chart defaults. Pure. */
export function imagesOf(
  values: Values,
  {chart, version}: Target,
  agentVersion: string,
): ChartImage[] {
  const ofTemplates = IMAGES[chart]
    .filter((each) => within(version, each.in) && (each.when?.(values) ?? true))
    .flatMap(({used, setting, at = [], reference}): ChartImage[] => {
      const found =
        reference === undefined ? joined(values, at, agentVersion) : textAt(values, reference);
      return found === ''
        ? []
        : [{used, setting, reference: found, rendered: prefixed(found, values)}];
    });
  const sidecars = itemsAt(values, 'task.sidecars').flatMap((each): ChartImage[] => {
    const found = isMap(each) ? each['image'] : undefined;
    return typeof found === 'string' ? [{used: 'sidecar', reference: found, rendered: found}] : [];
  });
  return [...ofTemplates, ...sidecars];
}

/** An agent image of Scalr in another version than the one that the chart version is made for. */
export interface PinnedAgent {
  /** The key of its tag. */
  key: string;
  message: string;
  /** The keys to remove. */
  keys: string;
}

/** Only exact versions: other repositories, tags and digests are a choice. `values` are merged over the chart defaults. Pure. */
export function pinnedAgents(values: Values, target: Target): PinnedAgent[] {
  const {chart, version} = target;
  const made = agentVersionOf(target);
  const maps = IMAGES[chart]
    .filter((each) => each.setting === agentImage && within(version, each.in))
    .map(({at = []}) => mapOf(values, at));
  return [...new Set(maps)].flatMap((map) => {
    const repository = textAt(values, `${map}.repository`);
    const tag = String(getAt(values, `${map}.tag`.split('.')) ?? '');
    const isPinned =
      /(^|\/)scalr\/agent(-runner)?$/.test(repository) &&
      /^\d+\.\d+\.\d+$/.test(tag) &&
      tag !== made;
    if (!isPinned || made === undefined) return [];
    const nameOf = (path: string): string | undefined => path.split('/').at(-1);
    // Older charts have an agent image with another name, which has no newer versions.
    const isRenamed =
      nameOf(repository) !==
      nameOf(textAt(defaultsOf(schemaOf(target), version), `${map}.repository`));
    const message = `The agent image is ${repository}:${tag}, but ${chart} ${version} is made for agent ${made}`;
    return [
      {
        key: `${map}.tag`,
        message,
        keys: isRenamed ? `${map}.tag and ${map}.repository` : `${map}.tag`,
      },
    ];
  });
}

/** The map that the templates use: the first with a repository. */
const mapOf = (values: Values, maps: readonly string[]): string | undefined =>
  maps.find((each) => textAt(values, `${each}.repository`) !== '') ?? maps[0];

function joined(values: Values, maps: readonly string[], agentVersion: string): string {
  const map = mapOf(values, maps);
  const tag = getAt(values, `${map}.tag`.split('.'));
  return `${textAt(values, `${map}.repository`)}:${tag || agentVersion}`;
}

/** agent-job prepends a registry to every repository, and replaces its namespace. */
function prefixed(reference: string, values: Values): string {
  const registry = textAt(values, 'global.imageRegistry');
  const namespace = textAt(values, 'global.imageNamespace');
  const named = namespace === '' ? reference : `${namespace}/${reference.split('/').at(-1)}`;
  return registry === '' ? named : `${registry}/${named}`;
}

/** True if the agent selects the image of each run itself: one image per tool and version. */
export const selectsImagesOfRuns = (values: Values, {chart, version}: Target): boolean =>
  chart === 'agent-k8s' && !imagesOf(values, {chart, version}, '').some(({used}) => used === 'run');
