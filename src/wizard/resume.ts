import {join} from 'node:path';
import {rawAnswers} from '../answers/answers-file.ts';
import {ExitCode, ExpectedError} from '../errors.ts';
import type {Files} from '../ports/files.ts';
import type {AnswerStore} from './answer-store.ts';

/** What a conversation that broke off leaves behind, without secrets. */
export interface ResumeState {
  /** As in an answers file. */
  answers: Readonly<Record<string, unknown>>;
  /** Questions that need not be asked again, because Enter alone was the answer. */
  asked: readonly string[];
  /** Context of the kubeconfig, where it was chosen. */
  context?: string;
}

const NAME = ['scalr-agent-install', 'resume.json'];

/** Where it is kept; undefined on a system that has no such place. https://specifications.freedesktop.org/basedir-spec */
export function resumePath(env: Readonly<Record<string, string | undefined>>): string | undefined {
  const {XDG_STATE_HOME: state, HOME: home, LOCALAPPDATA: local} = env;
  const base = state || local || (home ? join(home, '.local', 'state') : undefined);
  return base === undefined ? undefined : join(base, ...NAME);
}

/** @throws ExpectedError */
export async function readResumeState(path: string | undefined, files: Pick<Files, 'read' | 'kindOf'>): Promise<ResumeState> {
  if (path === undefined || (await files.kindOf(path)) === 'nothing') throw nothingKept('There is no conversation to resume.');
  try {
    return JSON.parse((await files.read(path)).toString('utf8')) as ResumeState;
  } catch (error) {
    if (error instanceof ExpectedError) throw error;
    throw nothingKept(`${path} is damaged.`);
  }
}

const nothingKept = (message: string): ExpectedError =>
  new ExpectedError(message, {code: 'UNREADABLE_FILE', exit: ExitCode.usage, suggestions: ['Begin anew, without --resume']});

/** Keeps what was said so far for its owner alone; where nothing can be written the conversation goes on without. */
export class ResumeStore {
  readonly #path: string | undefined;
  readonly #files: Pick<Files, 'write' | 'remove'>;
  /** There is something to go on with. */
  isKept = false;

  constructor(path: string | undefined, files: Pick<Files, 'write' | 'remove'>) {
    this.#path = path;
    this.#files = files;
  }

  async keep(store: AnswerStore, context: string | undefined): Promise<void> {
    if (this.#path === undefined) return;
    try {
      await this.#files.write(this.#path, `${JSON.stringify(stateOf(store, context), null, 2)}\n`, {isPrivate: true, makesDirectory: true});
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

function stateOf(store: AnswerStore, context: string | undefined): ResumeState {
  const {answers, secrets} = rawAnswers(store.entries().filter(({answer}) => answer.source === 'prompt'));
  return {
    answers,
    asked: [...store.asked].filter((id) => answers[id] === undefined && !secrets.some((setting) => setting.id === id)),
    ...(context === undefined ? {} : {context}),
  };
}
