import type {ResolveOptions} from '../answers/resolve.ts';
import {catalogue} from '../settings/catalogue.ts';
import type {Answer} from '../settings/settings.ts';
import {type AskingWorld, ask} from './ask.ts';
import {Knowledge} from './knowledge.ts';

/** The answers, and those without which nothing works as the operator gives them now. */
export async function askMissing(
  answers: ReadonlyMap<string, Answer>,
  {only = catalogue, optional = []}: ResolveOptions,
  world: AskingWorld,
): Promise<ReadonlyMap<string, Answer>> {
  const known = new Knowledge(answers);
  for (const setting of only) {
    if (!setting.required || optional.includes(setting) || known.get(setting) !== undefined) continue;
    const answer = await ask(setting, {}, known, world);
    if (answer !== undefined) known.say(setting, answer);
  }
  return new Map(known.entries().map(({setting, answer}) => [setting.id, answer]));
}
