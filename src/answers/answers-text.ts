import {Document} from 'yaml';
import {type Setting, spell} from '../settings/define.ts';
import {type Answer, holdsSecret, type Settings} from '../settings/settings.ts';

const HEADER = ' Answers for scalr-agent, without secrets. Use them with --answers FILE.';

interface Entry {
  setting: Setting;
  answer: Answer;
}

/** What the operator said, as an answers file; parseAnswers reads it back. What holds a password is only named. */
export function answersText(settings: Settings): string {
  const {answers, secrets} = rawAnswers(settings.entries().filter(({setting}) => settings.isExplicit(setting)));
  const document = new Document(answers);
  const left = secrets.map(spell);
  document.commentBefore = [HEADER, ...(left.length === 0 ? [] : [` Left out, because they are or hold secrets: ${left.join(', ')}`])].join(
    '\n',
  );
  return document.toString({lineWidth: 0});
}

/** Answers as they would be typed, and the settings whose answers are or hold secrets. */
export function rawAnswers(entries: readonly Entry[]): {answers: Record<string, unknown>; secrets: Setting[]} {
  const kept = entries.filter(({setting, answer}) => !holdsSecret(setting, answer));
  return {
    answers: Object.fromEntries(kept.map(({setting, answer}) => [setting.id, rawOf(setting, answer)])),
    secrets: entries.filter((each) => !kept.includes(each)).map(({setting}) => setting),
  };
}

function rawOf({kind}: Setting, {value, given}: Answer): unknown {
  if (given !== undefined) return given;
  if (kind.isSwitch) return value;
  const texts = kind.format(value);
  return kind.list ? texts : texts[0];
}
