import type {Controller, Inventory} from '../cluster/inventory.ts';
import {listKinds, scale, waitUntilGone} from '../kubernetes/kubectl.ts';
import type {ReleaseName} from '../ports/place.ts';
import type {Step} from './step.ts';

export interface DrainChoices {
  drain: boolean;
  drainTimeoutSeconds: number;
}

/** Stops what takes runs, and waits for those in flight while their service account and network policies are still there. */
export function drainSteps(name: ReleaseName, inventory: Inventory, {drain, drainTimeoutSeconds}: DrainChoices): Step[] {
  const {controllers, runsOf} = inventory;
  if (!drain || controllers.length === 0) return [];
  const runs = runsOf === undefined ? [] : [runsStep(name, runsOf, drainTimeoutSeconds)];
  const stop = controllers.map((each) => stopStep(name, each));
  // One that would break its runs off is stopped only once they have ended.
  const stopsRuns = runsOf?.chart === 'agent-k8s' && controllers.some(({onStop}) => onStop === 'interrupt');
  return [...(stopsRuns ? [...runs, ...stop] : [...stop, ...runs]), goneStep(name, controllers, drainTimeoutSeconds)];
}

const stopStep = ({place}: ReleaseName, {kind, name}: Controller): Step => ({
  id: `stop/${name}`,
  title: `Stop ${kind} ${name}, so that it takes no new runs`,
  call: scale(place, kind, name, 0),
  tolerates: /not found/i,
});

const runsStep = ({place}: ReleaseName, noRunsOf: NonNullable<Inventory['runsOf']>, timeoutSeconds: number): Step => ({
  id: 'drain',
  title: `Wait until no run is in flight, ${timeoutSeconds} s at most`,
  call: listKinds(place, ['jobs', 'pods']),
  waitFor: {namespace: place.namespace, noRunsOf, timeoutSeconds},
});

/** The pods of Deployments alone carry pod-template-hash: workers and runs have the same other labels. */
const goneStep = ({release, place}: ReleaseName, controllers: readonly Controller[], seconds: number): Step => {
  const hash = controllers.every(({kind}) => kind === 'Deployment') ? ',pod-template-hash' : '';
  return {
    id: 'stopped',
    title: `Wait until ${controllers.map(({name}) => name).join(' and ')} has ended, ${seconds} s at most`,
    call: waitUntilGone(place, ['pod', `--selector=app.kubernetes.io/instance=${release}${hash}`], seconds),
  };
};

/** What a drain cannot promise. */
export function drainWarnings({release, controllers, runs, runsOf}: Inventory, {drain, drainTimeoutSeconds}: DrainChoices): string[] {
  const [first] = controllers;
  if (release === undefined || first === undefined) return [];
  if (!drain) {
    if (runsOf === undefined)
      return ['Runs inside the agent cannot be seen from here. Without a drain they end as its shutdown mode says.'];
    return runs.length === 0 ? [] : [`${runs.length} runs are in flight; without a drain they lose their service account and their cache.`];
  }
  const longest = Math.max(...controllers.map(({graceSeconds}) => graceSeconds));
  const warnings = longest > drainTimeoutSeconds ? [`The agent may take ${longest} s to end, longer than this program waits for it.`] : [];
  if (runsOf === undefined && first.onStop === 'interrupt')
    warnings.push(
      `Runs inside ${first.name} are told to stop and killed after ${first.graceSeconds} s. To let them finish, take its pool away from its workspaces in Scalr and wait.`,
    );
  if (runsOf?.chart === 'agent-k8s') {
    if (first.onStop === 'interrupt')
      warnings.push(
        'This agent breaks runs off when it stops, so it takes new ones while they are waited for. Take its pool away from its workspaces in Scalr.',
      );
    if (Object.keys(runsOf.taskLabels).length === 0)
      warnings.push('Runs of this release have no label of their own: every pod in the namespace that nothing controls is taken for one.');
  }
  return warnings;
}
