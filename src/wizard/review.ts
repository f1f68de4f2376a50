import {setImmediate} from 'node:timers/promises';
import type {HostPlan} from '../extensions/machine/plan.ts';
import type {Prompter} from '../ground/system/system.ts';
import type {Plan} from '../operations/step.ts';
import {token, tokenSecret} from '../settings/agent.ts';
import {cacheStorageClass} from '../settings/cache.ts';
import {settingLabel} from '../settings/define.ts';
import {namespace, release} from '../settings/release.ts';
import type {Settings} from '../settings/settings.ts';
import {answeredStep} from '../ui/prompt-frame.ts';
import {paragraph, type Screen} from '../ui/theme.ts';
import type {GeneratedValues} from '../values/generate.ts';
import {apply, openQuestions} from './apply.ts';
import {askChartOnDisk} from './ask-requirements.ts';
import type {QuestionDeps} from './asking.ts';
import {
  commandsText,
  type FilesDeps,
  filesReferredTo,
  filesText,
  isCurrent,
  type Saved,
  save,
} from './files.ts';
import {requirementsOf} from './gathered-facts.ts';
import {isPossible} from './next.ts';
import {type Notice, noticeOfCause, noticesOf} from './notices.ts';
import {placeText} from './place.ts';
import {prepareReview, type Reviewed, type ReviewReaders} from './prepare-review.ts';
import {type Action, actionsOf, type Menu, preselected} from './review-menu.ts';
import {changedSettings, reviewRows} from './review-rows.ts';
import {reviewScreen} from './review-text.ts';
import {sharedClassOf} from './shared-cache.ts';
import {settingOf} from './spell-remedy.ts';
import {type TopicView, withNecessary} from './topics.ts';
import type {Block, Transcript} from './transcript.ts';
import type {WizardState} from './wizard-state.ts';

/** What to install, with the plan that was shown; or how the user left. */
export type Decision =
  | {
      generated: GeneratedValues;
      plan: Plan;
      /** Files with the same content that the user has saved. */
      saved: readonly string[];
      /** With the chosen cluster and pool. */
      state: WizardState;
    }
  | {onHost: Settings; plan: HostPlan}
  | 'saved'
  | 'quit';

/** What the user has decided at the review; `state` if the wizard goes on. */
export type Decided = {decision: Decision} | {state: WizardState};

export interface ReviewDeps extends QuestionDeps, FilesDeps, ReviewReaders {
  prompter: Prompter;
  screen: Screen;
  say(text: string): void;
}

interface Shown {
  state: WizardState;
  view: TopicView;
  reviewed: Reviewed;
}

const UNEDITED =
  'You have changed no setting. An update would still change the release: see "View values.yaml".';

/** With the question about the Secret where it has the token, and without one that would change nothing. */
function solvable(notice: Notice, {state, known}: TopicView): Notice {
  const {isGiven} = state.answers;
  const isInSecret = notice.fix === token.id && !isGiven(token) && isGiven(tokenSecret);
  const fix = isInSecret ? tokenSecret.id : notice.fix;
  // An installed release keeps its place.
  const isPlace = state.installed !== undefined && [namespace.id, release.id].includes(fix ?? '');
  const isOpen = fix !== undefined && !isPlace && isPossible(fix, state, known);
  return {...notice, fix: isOpen ? fix : undefined};
}

/** Why the installed release is not ready, until the setting that removes it is changed. */
function noticesOfToday(view: TopicView): Notice[] {
  const {cause} = view.known.installed ?? {};
  if (view.state.installed === undefined || cause === undefined) return [];
  const notice = noticeOfCause(cause);
  const setting = settingOf(notice.fix);
  const isChanged = setting !== undefined && changedSettings(view).includes(settingLabel(setting));
  return isChanged ? [] : [notice];
}

/** A fix of the StorageClass is to name one. */
const namedClass = (question: string, {known}: TopicView): string | undefined =>
  question === cacheStorageClass.id
    ? (sharedClassOf(known) ?? known.cluster?.storageClasses[0])?.name
    : undefined;

/** The review and its menu. */
export class Review {
  readonly #deps: ReviewDeps;
  readonly #transcript: Transcript;
  #shown: Shown | undefined;
  #saved: Saved | undefined;
  #last: Action | undefined;
  /** The commands stand on the screen. */
  #isPrinted = false;

  constructor(deps: ReviewDeps, transcript: Transcript) {
    this.#deps = deps;
    this.#transcript = transcript;
  }

  /** Shows the review below `steps`, and asks until the user decides. @throws GoBack */
  async decide(state: WizardState, view: TopicView, steps: readonly Block[]): Promise<Decided> {
    this.#transcript.show(steps);
    const reviewed = await this.#prepare(state, view);
    const shown = {state, view, reviewed};
    this.#shown = shown;
    const menu = this.#menuOf(shown);
    const notes = [...state.notes, ...this.#notes(menu)];
    const content = {view, reviewed, notes, rows: reviewRows(view), notices: menu.notices};
    this.#transcript.show([...steps, () => reviewScreen(content, this.#deps.screen)]);
    for (;;) {
      const action = await this.#choose(shown);
      // Enter after reading must not install.
      this.#last = action;
      const decided = await this.#do(action, shown);
      if (decided !== undefined) return decided;
    }
  }

  /** What was prepared before is still true if no answer has changed. */
  async #prepare(state: WizardState, view: TopicView): Promise<Reviewed> {
    const before = this.#shown;
    const isSame =
      before?.state.answers === state.answers &&
      before.state.place === state.place &&
      before.state.pool === state.pool;
    if (isSame) return before.reviewed;
    this.#last = undefined;
    this.#isPrinted = false;
    const isFiles = state.place?.kind === 'files' || state.place?.kind === 'systemd';
    const what = isFiles ? 'Writing the values' : 'Checking what an install would change';
    // The values are generated after the first sign of life.
    const preparing = setImmediate().then(() =>
      prepareReview(view.state, requirementsOf(view.known), this.#deps),
    );
    return this.#deps.prompter.wait(what, preparing);
  }

  #menuOf({state, view, reviewed}: Shown): Menu {
    const isKept = isCurrent(this.#saved, reviewed, view.state, this.#deps);
    const stale = this.#saved === undefined ? 'none' : 'stale';
    return {
      state,
      reviewed,
      notices: [...noticesOfToday(view), ...noticesOf(reviewed)]
        // All values of an opened release are answers, and their rows say what has changed.
        .filter(({code}) => code !== 'VALUE_DROPPED' || state.installed === undefined)
        .map((notice) => solvable(notice, view)),
      isUnedited: state.installed?.status === 'deployed' && changedSettings(view).length === 0,
      saved: isKept ? 'current' : stale,
      last: this.#last,
    };
  }

  #notes({isUnedited, reviewed, saved}: Menu): string[] {
    const files = this.#saved?.paths.join(', ');
    const isUpdate = isUnedited && (reviewed.prepared?.plan.steps ?? []).length > 0;
    return [
      ...(isUpdate ? [UNEDITED] : []),
      ...(saved === 'stale' ? [`Saved: ${files} (out of date, save again)`] : []),
    ];
  }

  async #choose(shown: Shown): Promise<Action> {
    const menu = this.#menuOf(shown);
    const action = await this.#deps.prompter.select({
      message: 'What do you want to do?',
      heading: [],
      help: ['Nothing has been changed yet.'],
      canGoBack: true,
      choices: actionsOf(menu),
      default: preselected(menu),
      isConsequential: preselected(menu) === 'install',
    });
    return action as Action;
  }

  /** Undefined if the menu is asked again. */
  async #do(action: Action, shown: Shown): Promise<Decided | undefined> {
    const {state, view, reviewed} = shown;
    const [, question] = /^fix:(.*)$/.exec(action) ?? [];
    if (question !== undefined) return {state: this.#fix(question, shown)};
    switch (action) {
      case 'install':
        return {decision: this.#install(shown)};
      case 'again':
        this.#shown = undefined;
        return {state};
      case 'disk':
        return this.#useChart(state);
      case 'change':
        return {state: {...state, isChanging: true, notes: []}};
      case 'view':
        return this.#print(filesText(reviewed, view.state, this.#deps));
      case 'print':
        this.#isPrinted = true;
        return this.#print(this.#commands(shown));
      case 'save':
        return this.#save(shown);
      default:
        return this.#quit(shown);
    }
  }

  #fix(question: string, shown: Shown): WizardState {
    const {notices} = this.#menuOf(shown);
    const {recommended = namedClass(question, shown.view)} =
      notices.find(({fix}) => fix === question) ?? {};
    return openQuestions(shown.state, withNecessary(question, shown.view.state), recommended);
  }

  /** Below the review, where it stays as it is. */
  #print(text: string): undefined {
    this.#transcript.add(() => `${text.trimEnd()}\n\n`);
  }

  /** What was accepted stays on the screen. */
  #install({state, view, reviewed}: Shown): Decision {
    const {generated, prepared, host} = reviewed;
    const isSaved = isCurrent(this.#saved, reviewed, view.state, this.#deps);
    const saved = isSaved ? (this.#saved?.paths ?? []) : [];
    const what =
      generated === undefined ? '' : `${generated.target.chart} ${generated.target.version} → `;
    const line = `${what}${placeText(state.place)}`;
    this.#transcript.add(() => answeredStep('Review', [line], this.#deps.screen));
    if (generated === undefined || prepared === undefined)
      return {onHost: host?.settings as Settings, plan: host?.plan as HostPlan};
    return {generated, plan: prepared.plan, saved, state};
  }

  async #useChart(state: WizardState): Promise<Decided> {
    const frame = {heading: [], canGoBack: true as const};
    const answers = await askChartOnDisk({frame, deps: this.#deps});
    return {state: answers === undefined ? state : apply(state, {question: 'disk', answers})};
  }

  async #save({view, reviewed}: Shown): Promise<undefined> {
    const saved = await save(reviewed, view.state, this.#deps);
    if (saved === undefined) return;
    if (typeof saved === 'string') return this.#print(`× ${saved}`);
    this.#saved = saved;
    this.#isPrinted = false;
    const others = filesReferredTo(reviewed);
    const copied =
      others.length === 0 ? '' : `\nanswers.yaml refers to ${others.join(', ')}: copy it along.`;
    const text = paragraph('', `Saved: ${saved.paths.join(', ')}`, this.#deps.screen);
    return this.#print(`${text.trimEnd()}${copied}`);
  }

  #commands({view, reviewed}: Shown): string {
    const commands = commandsText(reviewed, view.state, this.#saved, this.#deps);
    return `To do the same without the wizard:\n${commands}`;
  }

  async #quit(shown: Shown): Promise<Decided | undefined> {
    const {view, reviewed} = shown;
    if (isCurrent(this.#saved, reviewed, view.state, this.#deps)) {
      if (!this.#isPrinted) this.#print(this.#commands(shown));
      return {decision: 'saved'};
    }
    const doubt =
      this.#saved === undefined
        ? 'Quit without saving files?'
        : 'The saved files are out of date. Quit without saving again?';
    const isSure = await this.#deps.prompter.confirm(`${doubt} --resume continues later.`);
    return isSure ? {decision: 'quit'} : undefined;
  }
}
