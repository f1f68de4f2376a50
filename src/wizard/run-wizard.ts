import type {DiscoveredCluster} from '../answers/discover-cluster.ts';
import {isKnown} from '../cluster/facts/fact.ts';
import type {StorageClass} from '../cluster/facts/storage.ts';
import type {Choice} from '../ports/prompter.ts';
import type {Setting} from '../settings/define.ts';
import {chart} from '../settings/release.ts';
import {cacheStorageClass} from '../settings/storage.ts';
import {paragraph} from '../ui/theme.ts';
import type {AnswerStore} from './answer-store.ts';
import {chooseChart} from './choose-chart.ts';
import {Interview} from './interview.ts';
import {AFTER_CHART, AGENT, REST} from './questions.ts';
import {type Decision, type ReviewDeps, review} from './review.ts';

/** Prompts for settings, recommends a chart and shows the review. Changes nothing. `hear` returns the facts of the cluster. */
export async function runWizard(store: AnswerStore, hear: () => Promise<DiscoveredCluster>, deps: ReviewDeps): Promise<Decision> {
  await new Interview(store, deps).ask(AGENT);
  const {answers, facts, note, storageClasses} = await hear();
  deps.say(`\n${paragraph('', note, deps.screen)}`);
  if (answers) store.merge(answers, {now: deps.now()});
  const informed = {...deps, offers: (setting: Setting) => (setting === cacheStorageClass ? storageClasses.map(choiceOf) : [])};
  const interview = new Interview(store, informed);
  const askRest = async (): Promise<void> => {
    await interview.ask(AGENT);
    await interview.ask(REST);
    if (store.answer(chart) === undefined) await chooseChart(store, facts, informed);
    else interview.tell(chart);
    await interview.ask(AFTER_CHART);
  };
  await askRest();
  return review(store, facts, askRest, informed);
}

function choiceOf({name, provisioner, isDefault, accessModes}: StorageClass): Choice {
  const modes = isKnown(accessModes) ? accessModes.value.join(', ') : 'access modes unknown';
  return {value: name, label: isDefault ? `${name} (default)` : name, description: `${provisioner}: ${modes}`};
}
