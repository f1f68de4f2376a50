import {type SettingFinding, warningOf} from '../ground/finding.ts';
import {closest} from '../ground/similar-text.ts';
import {catalog} from '../settings/catalog.ts';
import type {Setting} from '../settings/define.ts';
import type {AnswerSource} from '../settings/settings.ts';

export interface SettingsSource {
  name: AnswerSource;
  /** Its answers are already parsed. */
  isParsed?: boolean;
  /** The raw answer, undefined if the source has none. */
  answer(setting: Setting): unknown;
  /** How the user gave it, for messages; as a flag if absent. */
  spelled?(setting: Setting): string;
  /** Where the answer comes from. */
  because?(setting: Setting): string | undefined;
}

export type Environment = Readonly<Record<string, string | undefined>>;

export const fromFlags = (flags: Readonly<Record<string, unknown>>): SettingsSource => ({
  name: 'flag',
  answer: (setting) => (setting.onlyEnv === undefined ? flags[setting.id] : undefined),
});

/** Environment variables; an empty one counts as absent. */
export const fromEnvironment = (env: Environment): SettingsSource => ({
  name: 'environment',
  answer: (setting) => {
    const text = env[setting.env];
    if (text === undefined || text === '') return undefined;
    return setting.kind.list ? text.split(setting.kind.list.separator) : text;
  },
  spelled: (setting) => setting.env,
});

export const fromAnswers = (answers: ReadonlyMap<string, unknown>): SettingsSource => ({
  name: 'answers',
  answer: (setting) => (setting.onlyEnv === undefined ? answers.get(setting.id) : undefined),
});

const PREFIX = 'SCALR_AGENT_INSTALL_';

/** Path of the answers file if --answers is not set. */
export const ANSWERS_VARIABLE = `${PREFIX}ANSWERS`;

/** Warnings about unknown variables with the prefix of this program, which are probably misspelled. */
export function unknownVariables(env: Environment): SettingFinding[] {
  const known = [...catalog.map((setting) => setting.env), ANSWERS_VARIABLE];
  const withoutPrefix = (name: string) => name.replace(/^SCALR_AGENT_(INSTALL_)?/, '');
  return Object.keys(env)
    .filter((name) => name.startsWith(PREFIX) && !known.includes(name))
    .map((name) => {
      const near = closest(withoutPrefix(name), known.map(withoutPrefix));
      const meant = known.find((each) => withoutPrefix(each) === near);
      return warningOf(
        'UNKNOWN_VARIABLE',
        `Unknown environment variable ${name} is ignored.${meant ? ` Did you mean ${meant}?` : ''}`,
      );
    });
}
