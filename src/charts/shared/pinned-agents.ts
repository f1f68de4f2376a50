import {at, getAt, textAt, type Values} from '../../ground/tree.ts';
import type {Setting} from '../../settings/define.ts';
import {agentImage} from '../../settings/images.ts';
import {agentVersionOf, defaultsOf, schemaOf} from '../releases/schema.ts';
import type {Target} from '../releases/target.ts';

/** What the templates write as the reference of one image. */
export interface ImageKeys {
  in?: string;
  used: string;
  setting: Setting<string>;
  /** Maps of repository and tag; the first with a repository is used. The default tag is the agent version. */
  maps?: readonly string[];
  /** Key of a complete reference. */
  reference?: string;
  /** Condition under which the image is used. */
  when?(values: Values): boolean;
}

/** The map that the templates use. */
export const mapOf = (values: Values, maps: readonly string[]): string | undefined =>
  maps.find((each) => textAt(values, `${each}.repository`) !== '') ?? maps[0];

/** An agent image of Scalr in another version than the one that the chart version is made for. */
export interface PinnedAgent {
  /** The key of its tag. */
  key: string;
  message: string;
  /** The keys to remove. */
  keys: string;
}

/** Only exact versions: other repositories, tags and digests are a choice. `values` are merged over the chart defaults. Pure. */
export function pinnedAgentsIn(
  images: readonly ImageKeys[],
  values: Values,
  target: Target,
): PinnedAgent[] {
  const made = agentVersionOf(target);
  const maps = images.flatMap(({setting, maps: all = []}) =>
    setting === agentImage ? (mapOf(values, all) ?? []) : [],
  );
  return [...new Set(maps)].flatMap((map) => {
    const repository = textAt(values, `${map}.repository`);
    const tag = String(getAt(values, at(`${map}.tag`)) ?? '');
    const isPinned =
      /(^|\/)scalr\/agent(-runner)?$/.test(repository) &&
      /^\d+\.\d+\.\d+$/.test(tag) &&
      tag !== made;
    if (!isPinned || made === undefined) return [];
    // Older charts have an agent image with another name, which has no newer versions.
    const defaults = defaultsOf(schemaOf(target), target.version);
    const isRenamed = nameOf(repository) !== nameOf(textAt(defaults, `${map}.repository`));
    return [
      {
        key: `${map}.tag`,
        message: `The agent image is ${repository}:${tag}, but ${target.chart} ${target.version} is made for agent ${made}`,
        keys: isRenamed ? `${map}.tag and ${map}.repository` : `${map}.tag`,
      },
    ];
  });
}

const nameOf = (repository: string): string | undefined => repository.split('/').at(-1);
