import {join} from 'node:path';
import {rawAnswers} from '../answers/answers-text.ts';
import {ExitCode, ExpectedError} from '../errors.ts';
import type {Files} from '../ports/files.ts';
import type {Knowledge} from './knowledge.ts';

/** What a conversation that broke off leaves behind, without secrets. */
export interface Kept {
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
export async function readKept(path: string | undefined, files: Pick<Files, 'read' | 'kindOf'>): Promise<Kept> {
  if (path === undefined || (await files.kindOf(path)) === 'nothing') throw nothingKept('There is no conversation to resume.');
  try {
    return JSON.parse((await files.read(path)).toString('utf8')) as Kept;
  } catch (error) {
    if (error instanceof ExpectedError) throw error;
    throw nothingKept(`${path} is damaged.`);
  }
}

const nothingKept = (message: string): ExpectedError =>
  new ExpectedError(message, {code: 'UNREADABLE_FILE', exit: ExitCode.usage, suggestions: ['Begin anew, without --resume']});

/** Keeps what was said so far for its owner alone. */
export async function keep(path: string, known: Knowledge, context: string | undefined, files: Pick<Files, 'write'>): Promise<void> {
  const {answers, secrets} = rawAnswers(known.entries().filter(({answer}) => answer.source === 'prompt'));
  const kept: Kept = {
    answers,
    asked: [...known.asked].filter((id) => answers[id] === undefined && !secrets.some((setting) => setting.id === id)),
    ...(context === undefined ? {} : {context}),
  };
  await files.write(path, `${JSON.stringify(kept, null, 2)}\n`, {isPrivate: true, makesDirectory: true});
}
