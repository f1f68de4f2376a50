import {Document} from 'yaml';
import {withoutCredentials} from '../settings/addresses.ts';
import {type Setting, spell} from '../settings/define.ts';
import type {Answer, Settings} from '../settings/settings.ts';

const HEADER = ' Answers for scalr-agent, without secrets. Use them with --answers FILE.';

/** What the operator said, as an answers file; parseAnswers reads it back. What holds a password is only named. */
export function answersText(settings: Settings): string {
  const said = settings.entries().filter(({setting}) => settings.isExplicit(setting));
  const kept = said.filter((each) => !isSecret(each.setting, each.answer));
  const document = new Document(Object.fromEntries(kept.map(({setting, answer}) => [setting.id, rawOf(setting, answer)])));
  const left = said.filter(({setting}) => !kept.some((each) => each.setting === setting)).map(({setting}) => spell(setting));
  document.commentBefore = [HEADER, ...(left.length === 0 ? [] : [` Left out, because they are or hold secrets: ${left.join(', ')}`])].join(
    '\n',
  );
  return document.toString({lineWidth: 0});
}

/** A secret itself, one from standard input, or an address with a password. The path of a file with a secret is none. */
const isSecret = ({onlyEnv}: Setting, {value, given}: Answer): boolean =>
  onlyEnv !== undefined || given === '-' || (typeof value === 'string' && withoutCredentials(value) !== value);

function rawOf({kind}: Setting, {value, given}: Answer): unknown {
  if (given !== undefined) return given;
  if (kind.isSwitch) return value;
  const texts = kind.format(value);
  return kind.list ? texts : texts[0];
}
