import type {Readings} from './inventory-readings.ts';
import type {KubernetesObject} from './objects.ts';

/** A definition of agent-job. Helm installs it and never takes it away. */
export interface DefinitionItem {
  name: string;
  /** Releases and resources that would go with it; undefined where that may not be read. */
  neededBy: readonly string[] | undefined;
}

/** What agent-job brought over the years: up to 0.5.63, up to 0.5.67, and since. */
export const DEFINITIONS: readonly string[] = ['agentworkers.scalr.io', 'atasks.scalr.io', 'agenttasktemplates.scalr.io'];

export function definitionsOf({release, namespace, state, releases, definitions = [], customResources}: Readings): DefinitionItem[] {
  // They are nobody's business but agent-job's; without the release there may still be what it left.
  if (state !== undefined && !state.chart.startsWith('agent-job-')) return [];
  const others = releases
    ?.filter((each) => each.chart.startsWith('agent-job-') && !(each.name === release && each.namespace === namespace))
    .map((each) => `release ${each.namespace}/${each.name} (${each.chart})`);
  return definitions
    .filter(({metadata}) => DEFINITIONS.includes(metadata.name))
    .map((definition) => {
      // Without Helm too, by Argo CD for one, somebody may rely on it.
      const resources = customResources
        ?.filter((each) => isOf(each, definition) && !isOurs(each, release, namespace))
        .map(({kind, metadata}) => `${kind} ${metadata.namespace}/${metadata.name}`);
      return {name: definition.metadata.name, neededBy: others && resources && [...others, ...resources]};
    });
}

const isOf = ({kind}: KubernetesObject, definition: KubernetesObject): boolean =>
  (definition as {spec?: {names?: {kind?: string}}}).spec?.names?.kind === kind;

const isOurs = ({metadata}: KubernetesObject, release: string, namespace: string): boolean =>
  metadata.namespace === namespace && metadata.annotations?.['meta.helm.sh/release-name'] === release;
