import type {Target} from '../../charts/define.ts';
import type {Values} from '../../charts/tree.ts';
import {effectiveValues} from '../effective.ts';
import {readEffective} from '../read.ts';
import type {Source} from './source.ts';

/** A file held against one chart version, with what several checks ask for found out once. */
export interface Held extends Source {
  /** The values over the defaults of the chart, as its templates see them. */
  effective: Values;
  /** The settings these values stand for. */
  settings: ReadonlyMap<string, unknown>;
}

export function hold(source: Source, target: Target): Held {
  const effective = effectiveValues(source.values, target);
  return {...source, effective, settings: readEffective(effective, target).settings};
}
