import type {Source} from '../answers/sources.ts';
import type {ChartRequirements} from '../charts/recommend.ts';
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

/** What a cluster says about itself, or why it says nothing. */
export interface Heard {
  answers?: Source;
  facts: ChartRequirements;
  storageClasses: readonly StorageClass[];
  /** One line for the operator. */
  note: string;
}

/** Asks, recommends, shows and asks what to do. Changes nothing. `hear` waits for what the cluster says, asked for meanwhile. */
export async function runWizard(store: AnswerStore, hear: () => Promise<Heard>, deps: ReviewDeps): Promise<Decision> {
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
  return {value: name, label: isDefault ? `${name} (the default one)` : name, description: `${provisioner}: ${modes}`};
}
