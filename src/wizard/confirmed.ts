import {CHARTS} from '../charts/charts.ts';
import {scopeOf, takes} from '../charts/support.ts';
import {Settings} from '../settings/settings.ts';
import {chosenTarget} from './chart-refusals.ts';
import type {Knowledge} from './knowledge.ts';

/**
 * The settings once somebody has seen them: what the cluster said and the chart takes counts as said by the operator, so
 * that the answers file gives the same values without the cluster. @throws ExpectedError
 */
export function confirmed(known: Knowledge): Settings {
  const settings = known.settings();
  const target = chosenTarget(known);
  const {get} = settings;
  const fits = settings.entries().flatMap(({setting, answer}) => {
    if (answer.source !== 'cluster') return [[setting.id, answer] as const];
    if (!known.told.has(setting.id)) return [];
    const isTaken = target === undefined || takes(CHARTS[target.chart], setting, settings, scopeOf(target, get));
    return isTaken ? [[setting.id, {value: answer.value, source: 'prompt' as const}] as const] : [];
  });
  return new Settings(new Map(fits));
}
