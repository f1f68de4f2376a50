import {setTimeout} from 'node:timers/promises';
import type {DiscoveredCluster} from '../answers/cluster-answers.ts';
import {sentences} from '../ground/text.ts';
import {cacheAccessMode, cacheStorageClass} from '../settings/cache.ts';
import {cloud} from '../settings/cluster.ts';
import {type Setting, settingName} from '../settings/define.ts';
import {workloadIdentity} from '../settings/network.ts';
import {namespace} from '../settings/release.ts';
import type {Answer} from '../settings/settings.ts';
import {type AnswerStore, hasCluster} from './answer-store.ts';
import {boxesQuestion, chartQuestion, dropRole, roleQuestion} from './choose-network-and-chart.ts';
import {type Contexts, type OfferedPools, poolQuestion, targetQuestion} from './choose-target.ts';
import {dropConsent} from './clear-text.ts';
import {type InstalledAgent, installedQuestion} from './installed-agent.ts';
import {Interview, type Question} from './interview.ts';
import {whyExcluded, whyExcludedNow} from './possible-answers.ts';
import {type Missing, requirementsQuestion} from './requirements.ts';
import {type Decision, type ReviewDeps, review} from './review.ts';
import {settingQuestion} from './setting-question.ts';
import {classChoices, whyNotOnClass} from './shared-cache.ts';
import {QUESTIONS, type SettingQuestion, STEPS} from './steps.ts';

/** What the wizard needs from the environment. */
export interface WizardDeps
  extends Omit<ReviewDeps, 'before' | 'offers' | 'whyExcluded' | 'facts' | 'tryRequirements'> {
  contexts: Contexts;
  /** The release of the chosen name in the cluster of a context; read once. */
  installed(context: string | undefined): Promise<InstalledAgent | undefined>;
  /** The pools of the account, if there is a token of a user for it; read once. */
  pools(): Promise<OfferedPools | undefined>;
  /** The first lines of the screen. */
  title(): string;
  env: Readonly<Record<string, string | undefined>>;
  /** What an install lacks in the cluster of a context; tried once per context unless `again`. */
  lacking(context: string | undefined, again?: boolean): Promise<readonly Missing[]>;
  /** Facts of the cluster of a context; read once per context. */
  read(context: string | undefined): Promise<DiscoveredCluster>;
}

const PATIENCE_MS = 1000;

/** What an install lacks was tried from the first question on, so that it is known at the second one. */
const GRACE_MS = 300;

const NO_CLUSTER: DiscoveredCluster = {facts: {}, storageClasses: [], summary: '', isRead: false};

/** Prompts for settings, recommends a chart and shows the review. Changes nothing. */
export async function runWizard(store: AnswerStore, deps: WizardDeps): Promise<Decision> {
  let cluster: DiscoveredCluster | undefined;
  let readFor: string | undefined;
  /** What the facts depend on: policies can differ between namespaces. */
  const whereKey = (): string => JSON.stringify([store.place, store.get(namespace)]);
  const facts = () => cluster?.facts ?? {};
  const classes = () => cluster?.storageClasses ?? [];

  let installed: InstalledAgent | undefined;
  const isOpenRelease = (): boolean => installed !== undefined;
  let installedFor: string | undefined;
  let offered: OfferedPools | undefined;
  let hasAskedAccount = store.pool !== undefined;
  let missing: readonly Missing[] = [];
  let lackingFor: string | undefined;
  const tryRequirements = async (again = false): Promise<readonly Missing[]> => {
    const {place} = store;
    if (place?.kind !== 'kubernetes') return [];
    const key = whereKey();
    lackingFor = key;
    const found = await deps.lacking(place.context, again);
    if (lackingFor === key) missing = found;
    return found;
  };

  /** Waits for the facts of the selected cluster after the step Agent. */
  const before: ReviewDeps['before'] = async (step, heading) => {
    const {place} = store;
    if (place?.kind === 'kubernetes' && lackingFor !== whereKey()) {
      const found = await Promise.race([tryRequirements(), setTimeout(GRACE_MS, [] as const)]);
      if (found.length > 0) return true;
    }
    if (place?.kind === 'kubernetes' && installedFor !== whereKey()) {
      installedFor = whereKey();
      const key = installedFor;
      installed = undefined;
      const reading = deps.installed(place.context).then((found) => {
        if (installedFor === key) installed = found;
      });
      // A slow cluster does not keep the user waiting: the release is opened when it is known.
      await deps.prompter.wait(
        'Reading the installed release',
        Promise.race([reading, setTimeout(PATIENCE_MS)]),
        [...heading],
      );
      if (isOpenRelease()) return true;
    }
    if (step === 'Agent' && place?.kind === 'kubernetes' && !hasAskedAccount) {
      offered = await deps.prompter.wait('Reading the Scalr account', deps.pools(), [...heading]);
      hasAskedAccount = true;
      return true;
    }
    const isEarly = hasCluster(place) && STEPS.indexOf(step) < STEPS.indexOf('Purpose');
    if (place === undefined || readFor === whereKey() || isEarly) return false;
    cluster = hasCluster(place)
      ? await deps.prompter.wait('Reading the cluster', deps.read(place.context), [...heading])
      : NO_CLUSTER;
    await deps.prompter.wait('Checking helm and the chart repository', tryRequirements(), [
      ...heading,
    ]);
    readFor = whereKey();
    store.merge(cluster.answers, {now: deps.now()});
    if (place.kind === 'kubernetes' && !cluster.isRead)
      interview.note(`${sentences(cluster.summary)} You can still write values.yaml.`);
    return true;
  };

  const asking = {
    ...deps,
    facts,
    before,
    tryRequirements,
    offers: (setting: Setting) =>
      setting === cacheStorageClass ? classChoices(store, classes(), facts()) : [],
    whyExcluded: (setting: Setting, value: unknown) =>
      whyNotOnClass(setting, value, store, classes()) ??
      (setting === (cacheAccessMode as Setting) ? whyExcludedNow : whyExcluded)(
        setting,
        value,
        store,
        facts(),
      ),
  };

  const put = (setting: Setting, answer: Answer | undefined): void => {
    if (answer === undefined) store.delete(setting);
    else store.set(setting, answer);
    dropConsent(store);
    if (setting === workloadIdentity) dropRole(store);
    for (const dropped of store.dropUseless(setting))
      interview.note(`Removed the answer for ${settingName(dropped)}: it no longer applies.`);
  };

  const about = (asked: SettingQuestion): Question =>
    settingQuestion(asked, store, {
      ...asking,
      cluster: () => cluster,
      isClusterRead: () => readFor === whereKey(),
      put,
      note: (text) => interview.note(text),
    });
  const of = (...settings: readonly Setting[]) =>
    QUESTIONS.filter(({setting}) => settings.includes(setting)).map(about);
  const inStep = (step: string) => QUESTIONS.filter((each) => each.step === step).map(about);
  const network = inStep('Network');
  const afterIdentity = network.findIndex(({id}) => id === workloadIdentity.id) + 1;
  const questions: Question[] = [
    targetQuestion(store, deps.contexts, deps),
    requirementsQuestion(store, () => missing, asking),
    installedQuestion(store, () => installed, asking),
    ...of(cloud),
    poolQuestion(store, () => offered, {
      prompter: deps.prompter,
      newName: () => contextName(store),
    }),
    ...inStep('Agent'),
    ...inStep('Purpose'),
    boxesQuestion(store, asking),
    ...secretsAgain(store).map((setting) => about({step: 'Network', setting, orElse: 'Not set'})),
    ...network.slice(0, afterIdentity),
    roleQuestion(store, put, deps),
    ...network.slice(afterIdentity),
    ...inStep('Cache'),
    ...inStep('Size'),
    chartQuestion(store, facts, deps, (setting, reason) => {
      interview.note(`Removed the answer for ${settingName(setting)}: ${reason}.`);
      interview.update(setting.id, 'removed');
    }),
    ...inStep('Chart'),
  ];
  const interview: Interview = new Interview(store, questions, asking);
  return deps.prompter.session(
    () => review(store, interview, questions, asking),
    () => `${deps.title()}${interview.above()}`,
  );
}

/** A name for a pool of this cluster: the last part of an ARN or path. */
const contextName = ({place}: AnswerStore): string =>
  (place?.kind === 'kubernetes' && place.context?.split(/[/:]/).at(-1)) || 'kubernetes';

/** Secrets of the resumed session that no other question asks for. */
const secretsAgain = (store: AnswerStore): Setting[] =>
  store
    .missingSecrets()
    .flatMap(({setting}) => (QUESTIONS.some((each) => each.setting === setting) ? [] : [setting]));
