import {join} from 'node:path';
import {rawAnswers} from '../answers/answers-file.ts';
import {ExitCode, ExpectedError} from '../errors.ts';
import type {Files} from '../ports/files.ts';
import type {AnswerStore, ResumeState} from './answer-store.ts';

const NAME = ['scalr-agent-install', 'resume.json'];

/** Path of the state file; undefined if the system has no state directory. https://specifications.freedesktop.org/basedir-spec */
export function resumePath(env: Readonly<Record<string, string | undefined>>): string | undefined {
  const {XDG_STATE_HOME: state, HOME: home, LOCALAPPDATA: local} = env;
  const base = state || local || (home ? join(home, '.local', 'state') : undefined);
  return base === undefined ? undefined : join(base, ...NAME);
}

/** @throws ExpectedError */
export async function readResumeState(path: string | undefined, files: Pick<Files, 'read' | 'kindOf'>): Promise<ResumeState> {
  if (path === undefined || (await files.kindOf(path)) === 'nothing') throw nothingKept('No saved session found.');
  try {
    return JSON.parse((await files.read(path)).toString('utf8')) as ResumeState;
  } catch (error) {
    if (error instanceof ExpectedError) throw error;
    throw nothingKept(`Cannot parse ${path}.`);
  }
}

const nothingKept = (message: string): ExpectedError =>
  new ExpectedError(message, {code: 'UNREADABLE_FILE', exit: ExitCode.usage, suggestions: ['Start again without --resume']});

/** Saves the answers in a private file; continues without it if the file cannot be written. */
export class ResumeStore {
  readonly #path: string | undefined;
  readonly #files: Pick<Files, 'write' | 'remove'>;
  /** True if a session can be resumed. */
  isKept = false;

  constructor(path: string | undefined, files: Pick<Files, 'write' | 'remove'>) {
    this.#path = path;
    this.#files = files;
  }

  async keep(store: AnswerStore): Promise<void> {
    if (this.#path === undefined) return;
    try {
      await this.#files.write(this.#path, `${JSON.stringify(stateOf(store), null, 2)}\n`, {isPrivate: true, makesDirectory: true});
      this.isKept = true;
    } catch (error) {
      if (!(error instanceof ExpectedError)) throw error;
      this.isKept = false;
    }
  }

  async forget(): Promise<void> {
    if (this.#path !== undefined) await this.#files.remove(this.#path);
  }
}

function stateOf(store: AnswerStore): ResumeState {
  const {answers, secrets} = rawAnswers(store.entries().filter(({answer}) => answer.source === 'prompt' || answer.source === 'flag'));
  const {place, recommended} = store;
  return {
    answers,
    asked: [...store.asked].filter((id) => !secrets.some((setting) => setting.id === id)),
    boxes: [...store.boxes],
    ...(place === undefined ? {} : {place}),
    ...(recommended === undefined ? {} : {recommended}),
  };
}
