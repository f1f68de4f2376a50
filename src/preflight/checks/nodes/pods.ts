import type {Values} from '../../../charts/tree.ts';
import type {NodeCapacity} from '../../../cluster/facts/capacity.ts';
import {type Fact, follow, known} from '../../../cluster/facts/fact.ts';
import type {KubernetesObject} from '../../../cluster/objects.ts';
import {mayRun, podSpecs} from '../../../cluster/pod-specs.ts';
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

const roleOf = ({kind}: KubernetesObject, chart: string): Pods['role'] =>
  kind === 'Deployment' && chart !== 'agent-local' ? 'controller' : 'runs';

export const isLinux = ({os}: NodeCapacity): boolean => os === 'linux' || os === '';

/** Nodes that take pods now. */
export const isOpen = ({isReady, isSchedulable}: NodeCapacity): boolean => isReady && isSchedulable;

/** Linux nodes that may get a run, as far as selectors and taints say. */
export const nodesForRuns = (situation: Situation): Fact<readonly NodeCapacity[]> =>
  follow(podsOf(situation), (pods, source) =>
    follow(situation.facts.nodes, (nodes) => {
      const specs = pods.filter(({role}) => role === 'runs').map(({spec}) => spec);
      return known(
        nodes.filter((node) => isLinux(node) && specs.some((spec) => mayRun(spec, node))),
        source,
      );
    }),
  );
