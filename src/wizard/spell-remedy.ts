import type {Mention, Remedy} from '../ground/finding.ts';
import {catalog} from '../settings/catalog.ts';
import {type Setting, spell} from '../settings/define.ts';
import {spellAsQuestion} from '../settings/spelling.ts';

export const settingOf = (id: string | undefined): Setting | undefined =>
  catalog.find((each) => each.id === id);

/** A remedy that spells settings as the wizard asks for them. */
export const spellRemedy = ({text, parts = [text]}: Remedy): Remedy => ({
  text: parts.map((part) => (typeof part === 'string' ? part : asQuestion(part))).join(''),
});

/** The kubeconfig and its context are no settings. */
function asQuestion({setting: id, value}: Mention): string {
  const setting = settingOf(id);
  if (setting === undefined) return id.replace('kube-context', 'kubeconfig context');
  return setting.group === 'Chart values' ? spell(setting, value) : spellAsQuestion(setting, value);
}
