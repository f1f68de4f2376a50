import type {Tree, Values} from '../../../charts/tree.ts';
import type {NodeCapacity} from '../../../cluster/facts/capacity.ts';
import {type Fact, follow, known, knownValue} from '../../../cluster/facts/fact.ts';
import type {KubernetesObject} from '../../../cluster/objects.ts';
import {mayRun, podSpecs} from '../../../cluster/pod-specs.ts';
import {nodeSelector, toleration} from '../../../settings/pods.ts';
import type {Situation} from '../../situation.ts';

/** Pods that a chart makes, or that its agent makes after the template of the chart. */
export interface Pods {
  /** Deployment scalr-agent */
  of: string;
  /** `runs` for those that Terraform runs in, or beside: agent-k8s places runs like the workers of its DaemonSet. */
  role: 'runs' | 'controller';
  spec: Values;
}

/** The pods of the rendered chart. */
export const podsOf = ({manifest, target}: Situation): Fact<readonly Pods[]> =>
  follow(manifest, (objects, source) =>
    known(
      objects.flatMap((object) =>
        podSpecs(object).map((spec): Pods => ({of: `${object.kind} ${object.metadata.name}`, role: roleOf(object, target.chart), spec})),
      ),
      source,
    ),
  );

export const roleOf = ({kind}: KubernetesObject, chart: string): Pods['role'] =>
  kind === 'Deployment' && chart !== 'agent-local' ? 'controller' : 'runs';

export const isLinux = ({os}: NodeCapacity): boolean => os === 'linux' || os === '';

/** Nodes that take pods now. */
export const isOpen = ({isReady, isSchedulable}: NodeCapacity): boolean => isReady && isSchedulable;

/** Of checks that have no node to look at; the one about placement says why. */
export const NO_NODE_FOR_RUNS = 'No node takes runs as it is';

/** Linux nodes that may get a run, as far as selectors and taints say: of the rendered chart, else of the settings. */
export function nodesForRuns(situation: Situation): Fact<readonly NodeCapacity[]> {
  const {facts, get} = situation;
  const pods = knownValue(podsOf(situation));
  const specs = pods?.filter(({role}) => role === 'runs').map(({spec}) => spec) ?? [
    {nodeSelector: get(nodeSelector) ?? {}, tolerations: (get(toleration) ?? []) as unknown as Tree[]},
  ];
  return follow(facts.nodes, (nodes, source) =>
    known(
      nodes.filter((node) => isLinux(node) && specs.some((spec) => mayRun(spec, node))),
      source,
    ),
  );
}
