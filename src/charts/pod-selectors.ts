import type {Target} from './define.ts';
import {within} from './releases.ts';

/** Pods of runs carry no label of the chart, so its NetworkPolicy does not select them (templates/networkpolicy.yaml). */
export const missesRuns = ({chart, version}: Target): boolean =>
  chart === 'agent-k8s' || (chart === 'agent-job' && within(version, '<=0.5.63'));

/** Labels of every other pod of a release (templates/_helpers.tpl, selectorLabels). */
export const releaseLabels = (release: string): Readonly<Record<string, string>> => ({'app.kubernetes.io/instance': release});
