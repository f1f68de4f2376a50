import {setLogs} from '../../control-plane/logs.ts';
import {pod} from '../../control-plane/objects.ts';
import type {Workplace} from '../../control-plane/workplace.ts';

export const logOf = (namespace: string, name: string, container: string): string =>
  `/api/v1/namespaces/${namespace}/pods/${name}/log?container=${container}`;

/** Pods that run, with so many containers each, all of which have the same log. */
export async function running(
  place: Workplace,
  pods: number,
  containers: number,
  lines: readonly string[],
): Promise<string[]> {
  const names = Array.from({length: pods}, (_, index) => `agent-${index}`);
  const spec = {
    containers: Array.from({length: containers}, (_, index) => ({
      name: `c${index}`,
      image: 'scalr/agent:1',
    })),
  };
  await setLogs(place.kubeconfig, {namespace: place.namespace}, {'*': {current: lines}});
  await place.kubectl.apply(...names.map((name) => pod(name, {spec})));
  await place.kubectl('wait', 'pod', '--all', '--for=condition=Ready', '--timeout=50s');
  return names;
}
