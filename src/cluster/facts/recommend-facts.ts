import type {ChartRequirements} from '../../charts/recommend.ts';
import type {ClusterFacts} from './cluster-facts.ts';
import {knownValue} from './fact.ts';

/** What the choice of a chart depends on; what is unknown is left out. */
export function recommendFactsOf({versions, forbidsHostPath}: ClusterFacts): ChartRequirements {
  const oldestKubernetes = knownValue(versions.oldest);
  const forbids = knownValue(forbidsHostPath);
  return {
    ...(oldestKubernetes === undefined ? {} : {oldestKubernetes}),
    ...(forbids === undefined ? {} : {forbidsHostPath: forbids}),
  };
}
