import {mapsIn} from '../../../cluster/kubernetes/pod-specs.ts';
import {getAt, type Values} from '../../../ground/tree.ts';
import {type Amounts, amountsOf, maximum, sum} from './amounts.ts';
import type {LimitRange, LimitRangeItem} from './namespace-limits.ts';

export interface Resources {
  requests: Amounts;
  limits: Amounts;
}

/** A container with the defaults that the API server and a LimitRange give it. */
export interface AdmittedContainer extends Resources {
  name: string;
  isInit: boolean;
}

export const itemsOf = (ranges: readonly LimitRange[], type: string): LimitRangeItem[] =>
  ranges.flatMap(({spec}) => (spec?.limits ?? []).filter((each) => each.type === type));

/** Containers as admission leaves them: https://kubernetes.io/docs/concepts/policy/limit-range/ */
export function admitted(spec: Values, ranges: readonly LimitRange[]): AdmittedContainer[] {
  const items = itemsOf(ranges, 'Container').toReversed();
  const defaults = Object.assign({}, ...items.map((each) => amountsOf(each.default)));
  const defaultRequests = Object.assign({}, ...items.map((each) => amountsOf(each.defaultRequest)));
  const admit = (container: Values, isInit: boolean): AdmittedContainer => {
    const requests = amountsOf(getAt(container, ['resources', 'requests']));
    const limits = amountsOf(getAt(container, ['resources', 'limits']));
    return {
      name: String(container['name']),
      isInit: isInit && container['restartPolicy'] !== 'Always',
      // Kubernetes uses the limit if there is no request.
      requests: {...defaultRequests, ...limits, ...requests},
      limits: {...defaults, ...limits},
    };
  };
  return [
    ...mapsIn(spec['containers']).map((each) => admit(each, false)),
    ...mapsIn(spec['initContainers']).map((each) => admit(each, true)),
  ];
}

/** What a whole pod counts for: its containers together, or its largest init container. */
export function podTotal(containers: readonly AdmittedContainer[]): Resources {
  const together = containers.filter(({isInit}) => !isInit);
  const alone = containers.filter(({isInit}) => isInit);
  const total = (key: 'requests' | 'limits'): Amounts =>
    [together.map((each) => each[key]).reduce(sum, {}), ...alone.map((each) => each[key])].reduce(
      maximum,
    );
  return {requests: total('requests'), limits: total('limits')};
}
