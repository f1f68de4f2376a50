import type {Group, Setting} from '../settings/define.ts';
import type {Answer, AnswerSource} from '../settings/settings.ts';
import {answeredText} from './prompts/frame.ts';
import {type Screen, theme} from './theme.ts';

const FROM: Readonly<Record<AnswerSource, string>> = {
  flag: 'flag',
  environment: 'environment',
  answers: 'answers file',
  cluster: 'the cluster',
  prompt: 'said before',
  default: 'default',
  chart: 'the chart',
};

export const headingText = (group: Group, screen: Screen): string => `\n${theme(screen).bold(group)}\n`;

/** An answer that was known without a question, as if it had been given to one. */
export function knownText(setting: Setting, answer: Answer, screen: Screen): string {
  const source = setting.onlyEnv ?? (answer.because === undefined ? FROM[answer.source] : `${FROM[answer.source]}: ${answer.because}`);
  return answeredText(setting.question, answerText(setting, answer), source, screen);
}

/** An answer on one line, without what nobody may read. */
export function answerText({kind}: Setting, {value, given}: Answer): string {
  if (given !== undefined) return given;
  if (kind.isSecret) return '[hidden]';
  if (kind.isSwitch) return value ? 'yes' : 'no';
  const text = kind.format(value).join(', ');
  return kind.shown?.(value as never) ?? (text === '' ? 'none' : text);
}
