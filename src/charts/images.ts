import {at, getAt, isMap, itemsAt, textAt, type Values} from '../ground/tree.ts';
import type {Setting} from '../settings/define.ts';
import {chartFor} from './chart-version.ts';
import type {Target} from './releases/target.ts';
import {mapOf, type PinnedAgent, pinnedAgentsIn} from './shared/pinned-agents.ts';

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
export function imagesOf(values: Values, target: Target, agentVersion: string): ChartImage[] {
  const ofTemplates = chartFor(target)
    .images.filter((each) => each.when?.(values) ?? true)
    .flatMap(({used, setting, maps = [], reference: key}): ChartImage[] => {
      const reference =
        key === undefined ? joined(values, maps, agentVersion) : textAt(values, key);
      return reference === ''
        ? []
        : [{used, setting, reference, rendered: prefixed(reference, values)}];
    });
  const sidecars = itemsAt(values, 'task.sidecars').flatMap((each): ChartImage[] => {
    const found = isMap(each) ? each['image'] : undefined;
    return typeof found === 'string' ? [{used: 'sidecar', reference: found, rendered: found}] : [];
  });
  return [...ofTemplates, ...sidecars];
}

function joined(values: Values, maps: readonly string[], agentVersion: string): string {
  const map = mapOf(values, maps);
  const tag = getAt(values, at(`${map}.tag`));
  return `${textAt(values, `${map}.repository`)}:${tag || agentVersion}`;
}

/** agent-job prepends a registry to every repository, and replaces its namespace. */
function prefixed(reference: string, values: Values): string {
  const registry = textAt(values, 'global.imageRegistry');
  const namespace = textAt(values, 'global.imageNamespace');
  const named = namespace === '' ? reference : `${namespace}/${reference.split('/').at(-1)}`;
  return registry === '' ? named : `${registry}/${named}`;
}

/** Agent images that are pinned to another version than that of the chart. Pure. */
export const pinnedAgents = (values: Values, target: Target): PinnedAgent[] =>
  pinnedAgentsIn(chartFor(target).images, values, target);

/** True if the agent selects the image of each run itself: one image per tool and version. */
export const selectsImagesOfRuns = (values: Values, target: Target): boolean =>
  target.chart === 'agent-k8s' && !imagesOf(values, target, '').some(({used}) => used === 'run');
