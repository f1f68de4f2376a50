import {join} from 'node:path';
import type {SettingsSource} from '../answers/sources.ts';
import {ExpectedError, failed, onFailure} from '../ground/errors.ts';
import type {Files} from '../ground/system/system.ts';
import {token, tokenFile} from '../settings/agent.ts';
import {catalog} from '../settings/catalog.ts';
import {spell} from '../settings/define.ts';
import {withoutCredentials} from '../settings/kinds/urls.ts';
import {type Answer, hasPassword} from '../settings/settings.ts';
import {NEW_TOKEN, type ResumeState, type WizardState} from './wizard-state.ts';

const NAME = ['scalr-agent-install', 'resume.json'];

/** Path of the state file; undefined if the system has no state directory. https://specifications.freedesktop.org/basedir-spec */
export function resumePath(env: Readonly<Record<string, string | undefined>>): string | undefined {
  const {XDG_STATE_HOME: state, HOME: home, LOCALAPPDATA: local} = env;
  const base = state || local || (home ? join(home, '.local', 'state') : undefined);
  return base === undefined ? undefined : join(base, ...NAME);
}

/** @throws ExpectedError */
export async function readResumeState(
  path: string | undefined,
  files: Pick<Files, 'read' | 'kindOf'>,
): Promise<ResumeState> {
  const isThere =
    path !== undefined && (await files.kindOf(path).catch(onFailure(() => 'nothing')));
  if (path === undefined || isThere === 'nothing') throw nothingKept('No saved session found.');
  try {
    return JSON.parse((await files.read(path)).toString('utf8')) as ResumeState;
  } catch (error) {
    if (error instanceof ExpectedError) throw error;
    throw nothingKept(`Cannot parse ${path}.`);
  }
}

/** The saved answers as sources. */
export const fromResumeState = ({answers, flags = []}: ResumeState): SettingsSource[] =>
  (['flag', 'prompt'] as const).map((name) => ({
    name,
    answer: ({id}) => (flags.includes(id) === (name === 'flag') ? answers[id] : undefined),
  }));

/** Flags with secrets that no question asks for must be given again. @throws ExpectedError */
export function requireSecretFlags(
  {secrets = {}}: ResumeState,
  found: ReadonlyMap<string, Answer>,
): void {
  const missing = catalog.filter(
    ({id, group}) => group === 'Chart values' && id in secrets && !found.has(id),
  );
  if (missing.length === 0) return;
  const flags = missing.map((each) => spell(each)).join(', ');
  throw new ExpectedError(
    `The saved session does not contain ${flags}, because secrets are not saved.`,
    {
      code: 'MISSING_SETTING',
      options: [
        {
          add: missing.map((setting) => `${spell(setting)} ${setting.kind.hint}`).join(' '),
          when: 'Set the secrets again',
        },
      ],
      suggestions: [
        `Add to --resume: ${missing.map((setting) => `${spell(setting)} ${setting.kind.hint}`).join(' ')}`,
        'Start again without --resume',
      ],
    },
  );
}

const nothingKept = (message: string): ExpectedError =>
  failed('UNREADABLE_FILE', message, ['Start again without --resume']);

/** Saves the answers in a private file; continues without it if the file cannot be written. */
export class ResumeStore {
  readonly #path: string | undefined;
  readonly #files: Pick<Files, 'write' | 'remove'>;
  readonly #onLost: (why: string) => void;
  #isLost = false;
  /** True if a session can be resumed. */
  isKept = false;

  /** `onLost` gets the reason, once, if the answers cannot be saved. */
  constructor(
    path: string | undefined,
    files: Pick<Files, 'write' | 'remove'>,
    onLost: (why: string) => void = () => undefined,
  ) {
    this.#path = path;
    this.#files = files;
    this.#onLost = onLost;
  }

  async keep(state: WizardState): Promise<void> {
    const why = await this.#write(`${JSON.stringify(await stateOf(state), null, 2)}\n`);
    this.isKept = why === undefined;
    if (why !== undefined && !this.#isLost) this.#onLost(why);
    this.#isLost ||= why !== undefined;
  }

  /** The reason if the file cannot be written. */
  async #write(text: string): Promise<string | undefined> {
    if (this.#path === undefined) return 'HOME is not set.';
    return this.#files
      .write(this.#path, text, {isPrivate: true, makesDirectory: true})
      .then(() => undefined)
      .catch(onFailure(({message}) => message));
  }

  /** A file that cannot be removed must not fail an install that has succeeded. */
  async forget(): Promise<void> {
    if (this.#path !== undefined)
      await this.#files.remove(this.#path).catch(onFailure(() => undefined));
  }
}

async function stateOf(state: WizardState): Promise<ResumeState> {
  const {rawAnswers} = await import('../answers/answers-file.ts');
  const entries = state.answers
    .entries()
    .filter(({answer}) => answer.source === 'prompt' || answer.source === 'flag');
  const {answers, secrets} = rawAnswers(entries);
  const {place, pool, missingSecrets} = state;
  // The token has a question of its own, on which no other answer depends.
  const others = secrets.filter(({id}) => id !== token.id && id !== tokenFile.id);
  const kept = others.map(
    (setting) => [setting.id, keptOf(state.answers.answer(setting))] as const,
  );
  return {
    answers,
    flags: entries.flatMap(({setting, answer}) => (answer.source === 'flag' ? [setting.id] : [])),
    secrets: Object.fromEntries([...missingSecrets, ...kept]),
    asked: [...state.asked].filter(
      (id) => id !== NEW_TOKEN && !secrets.some((each) => each.id === id),
    ),
    ...(place === undefined ? {} : {place}),
    ...(pool === undefined ? {} : {pool}),
    isUpdate: state.installed !== undefined,
  };
}

const keptOf = (answer: Answer | undefined): string =>
  answer !== undefined && hasPassword(answer) ? withoutCredentials(String(answer.value)) : '';
