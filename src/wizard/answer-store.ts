import {settleAnswers} from '../answers/resolve.ts';
import type {SettingsSource} from '../answers/sources.ts';
import type {Target} from '../charts/releases/target.ts';
import {catalog} from '../settings/catalog.ts';
import type {Get, Setting} from '../settings/define.ts';
import {MissingSetting, type ParseContext} from '../settings/kinds/kind.ts';
import {missingFor} from '../settings/purpose.ts';
import type {TargetName} from '../settings/release.ts';
import type {Answer, Settings} from '../settings/settings.ts';

/** Where the agent will run: the cluster of a kubeconfig context, this machine, or nowhere yet (only files are written, perhaps for a cluster). */
export type Place =
  | {kind: 'kubernetes'; context?: string}
  | {kind: 'files'; context?: string | undefined}
  | {kind: 'docker'}
  | {kind: 'systemd'};

/** True if a cluster belongs to the place. */
export const hasCluster = (
  place: Place | undefined,
): place is Extract<Place, {kind: 'kubernetes' | 'files'}> =>
  place?.kind === 'kubernetes' || (place?.kind === 'files' && place.context !== undefined);

const PLACES = {
  files: 'files only',
  docker: 'Docker on this machine',
  systemd: 'virtual machine',
} as const;

/** The target of the place: values.yaml alone is for Kubernetes, too. */
export const targetOfPlace = (place: Place | undefined): TargetName =>
  place?.kind === 'docker' || place?.kind === 'systemd' ? place.kind : 'kubernetes';

/** Without a context, kubectl and helm use it. */
export const IN_POD = 'service account of this pod';

export function placeText(place: Place | undefined): string {
  if (place === undefined) return 'current context';
  return place.kind === 'kubernetes' ? (place.context ?? IN_POD) : PLACES[place.kind];
}

/** An agent pool of the Scalr account whose token the install creates. */
export interface ChosenPool {
  host: string;
  name: string;
  /** Undefined for a pool that the install may create. */
  id?: string;
  /** Given with --pool, without --create-pool. */
  mustExist?: boolean;
}

/** The saved state of an interrupted session, without secrets. */
export interface ResumeState {
  /** As in an answers file. */
  answers: Readonly<Record<string, unknown>>;
  /** IDs of answers that were flags, whose questions stay skipped. */
  flags?: readonly string[];
  /** Answers that are or contain secrets: only a URL is kept, with placeholders for user name and password. */
  secrets?: Readonly<Record<string, string>>;
  asked: readonly string[];
  /** Selected boxes of the network question. */
  boxes: readonly string[];
  place?: Place;
  pool?: ChosenPool;
  /** The chart that was recommended when one was selected. */
  recommended?: string;
}

export class AnswerStore {
  readonly #answers: Map<string, Answer>;
  /** IDs of answered questions, including empty answers. */
  readonly asked: Set<string>;
  /** Selected boxes of the network question. */
  boxes: ReadonlySet<string>;
  place: Place | undefined;
  pool: ChosenPool | undefined;
  /** The settings of the installed release that is changed, by ID. */
  installed: ReadonlyMap<string, unknown> | undefined;
  /** Of its newest revision: deployed, failed, … */
  installedStatus: string | undefined;
  /** The session continues an interrupted one. */
  readonly isResumed: boolean;
  /** The recommended chart when the user selected one. */
  recommended: string | undefined;
  /** The given chart in a version that only the chart itself describes. */
  readChart: Target | undefined;
  /** Secrets of the resumed session that must be entered again: what was kept of them, by ID. */
  readonly #missingSecrets: Map<string, string>;

  constructor(found: ReadonlyMap<string, Answer>, kept?: Partial<ResumeState>) {
    const {asked = [], boxes = [], place, pool, recommended, secrets = {}} = kept ?? {};
    this.isResumed = kept !== undefined;
    this.#answers = new Map(found);
    this.#missingSecrets = new Map(Object.entries(secrets).filter(([id]) => !found.has(id)));
    this.asked = new Set(asked);
    this.boxes = new Set(boxes);
    this.place = place;
    this.pool = pool;
    this.recommended = recommended;
  }

  /** Defaults included. */
  get: Get = <T>(setting: Setting<T>): T | undefined => {
    const answer = this.#answers.get(setting.id);
    return answer === undefined ? setting.fallback?.(this.get) : (answer.value as T);
  };

  answer = (setting: Setting): Answer | undefined => this.#answers.get(setting.id);

  /** True if the answer is not from the cluster. */
  isGiven = (setting: Setting): boolean => {
    const answer = this.answer(setting);
    return answer !== undefined && answer.source !== 'cluster';
  };

  /** True for an answer from a flag, a variable or a file: its question is skipped. */
  isFixed = (setting: Setting): boolean =>
    this.isGiven(setting) && this.answer(setting)?.source !== 'prompt';

  /** True if the box was selected, or if one of its settings is fixed. */
  isOpen = (box: {id: string; settings: readonly Setting[]}): boolean =>
    this.boxes.has(box.id) || box.settings.some(this.isFixed);

  /** In the order of the catalog. */
  entries(): {setting: Setting; answer: Answer}[] {
    return catalog.flatMap((setting) => {
      const answer = this.answer(setting);
      return answer === undefined ? [] : [{setting, answer}];
    });
  }

  /** Secrets of the resumed session that must be entered again, with what was kept of them. */
  missingSecrets(): {setting: Setting; kept: string}[] {
    return catalog.flatMap((setting) => {
      const kept = this.#missingSecrets.get(setting.id);
      return kept === undefined ? [] : [{setting, kept}];
    });
  }

  set(setting: Setting, answer: Answer): void {
    this.#answers.set(setting.id, answer);
    this.#missingSecrets.delete(setting.id);
  }

  /** Removes the answer, so that the question is asked again. */
  delete(setting: Setting): void {
    this.#answers.delete(setting.id);
    this.#missingSecrets.delete(setting.id);
    this.asked.delete(setting.id);
  }

  /** Adds facts of the cluster for settings without an answer; facts of another cluster are removed. */
  merge(cluster: SettingsSource | undefined, context: ParseContext): void {
    for (const setting of catalog) {
      if (this.answer(setting)?.source === 'cluster') this.#answers.delete(setting.id);
      const raw = cluster?.answer(setting);
      if (raw === undefined || this.#answers.has(setting.id)) continue;
      const because = cluster?.because?.(setting);
      const value = setting.kind.parse(raw, context);
      this.#answers.set(setting.id, {
        value,
        source: 'cluster',
        ...(because === undefined ? {} : {because}),
      });
    }
  }

  /** Removes prompted answers that have no effect or are invalid after a change of `changed`, and returns their settings. */
  dropUseless(changed: Setting): Setting[] {
    // Other answers can depend on a secret that is not entered again yet.
    if (this.#missingSecrets.size > 0) return [];
    const useless = catalog.filter((setting) => {
      const answer = this.answer(setting);
      if (answer?.source !== 'prompt' || setting.id === changed.id) return false;
      const problem = setting.rule?.(answer.value, this.get);
      return (
        missingFor(setting, this.get) !== undefined ||
        (problem !== undefined && !(problem instanceof MissingSetting))
      );
    });
    for (const setting of useless) this.delete(setting);
    return useless;
  }

  /** @throws ExpectedError that lists all invalid and missing settings */
  settings(optional: readonly Setting[] = []): Settings {
    return settleAnswers({answers: this.#answers, problems: []}, {optional});
  }
}
