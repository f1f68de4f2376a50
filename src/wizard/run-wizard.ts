import {unlessBack} from '../ground/errors.ts';
import {askTarget} from './ask-target.ts';
import {confirmQuit, type QuestionDeps, sayNumber} from './asking.ts';
import type {Place} from './place.ts';
import type {Reply} from './reply.ts';
import type {Decision} from './review.ts';
import type {WizardDeps} from './session.ts';
import {Transcript} from './transcript.ts';
import type {WizardState} from './wizard-state.ts';

/** What the first question needs from the environment. */
export interface FirstDeps
  extends Pick<QuestionDeps, 'prompter' | 'screen' | 'contexts' | 'facts'> {
  say(text: string): void;
  /** The first lines of the screen. */
  title(): string;
  /** Where the agent runs if there is no other possibility. */
  onlyPlace: Place | undefined;
  /** What all other questions need. */
  load(transcript: Transcript): Promise<WizardDeps>;
}

/** Asks where the agent runs and for its token or pool, then shows the review. Changes nothing. */
export function runWizard(state: WizardState, deps: FirstDeps): Promise<Decision> {
  const transcript = new Transcript(deps);
  return deps.prompter.session(
    () => decide(state, deps, transcript),
    () => `${deps.title()}${transcript.text()}`,
  );
}

/** Only the first question is loaded before it is asked. */
async function decide(
  state: WizardState,
  deps: FirstDeps,
  transcript: Transcript,
): Promise<Decision> {
  const first = await askPlace(state, deps);
  const loading = Promise.all([import('./session.ts'), deps.load(transcript)]);
  const [{Session}, others] = await deps.prompter.wait('Loading', loading);
  return new Session(state, others).run(first);
}

/** Undefined if the place is known. @throws PromptCanceled if the user quits */
async function askPlace(state: WizardState, deps: FirstDeps): Promise<Reply | undefined> {
  if (state.asked.has('target') || deps.onlyPlace !== undefined) return undefined;
  sayNumber(1, deps);
  const frame = {heading: [], canGoBack: 'quit'} as const;
  for (;;) {
    const reply = await unlessBack(askTarget({state, frame, deps}), undefined);
    if (reply !== undefined) return reply;
    await confirmQuit(deps.prompter);
  }
}
