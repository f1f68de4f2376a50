import type {DiscoveredCluster} from '../answers/discover-cluster.ts';
import {isKnown} from '../cluster/facts/fact.ts';
import type {StorageClass} from '../cluster/facts/storage.ts';
import type {Choice} from '../ports/prompter.ts';
import type {Setting} from '../settings/define.ts';
import {chart} from '../settings/release.ts';
import {cacheStorageClass} from '../settings/storage.ts';
import {paragraph} from '../ui/theme.ts';
import {chooseChart} from './choose-chart.ts';
import {Interview} from './interview.ts';
import type {Knowledge} from './knowledge.ts';
import {AFTER_CHART, AGENT, REST} from './questions.ts';
import {type Decision, type ReviewWorld, review} from './review.ts';

/** Asks, recommends, shows and asks what to do. Changes nothing. `hear` waits for what the cluster says, asked for meanwhile. */
export async function converse(known: Knowledge, hear: () => Promise<DiscoveredCluster>, world: ReviewWorld): Promise<Decision> {
  await new Interview(known, world).ask(AGENT);
  const {answers, facts, note, storageClasses} = await hear();
  world.say(`\n${paragraph('', note, world.screen)}`);
  if (answers) known.hear(answers, {now: world.now()});
  const informed = {...world, offers: (setting: Setting) => (setting === cacheStorageClass ? storageClasses.map(choiceOf) : [])};
  const interview = new Interview(known, informed);
  const askRest = async (): Promise<void> => {
    await interview.ask(AGENT);
    await interview.ask(REST);
    if (known.answer(chart) === undefined) await chooseChart(known, facts, informed);
    else interview.tell(chart);
    await interview.ask(AFTER_CHART);
  };
  await askRest();
  return review(known, facts, askRest, informed);
}

function choiceOf({name, provisioner, isDefault, accessModes}: StorageClass): Choice {
  const modes = isKnown(accessModes) ? accessModes.value.join(', ') : 'access modes unknown';
  return {value: name, label: isDefault ? `${name} (the default one)` : name, meaning: `${provisioner}: ${modes}`};
}
