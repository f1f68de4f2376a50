import {findAnswers, settleAnswers} from '../answers/resolve.ts';
import type {SettingsSource} from '../answers/sources.ts';
import {url} from '../settings/agent.ts';
import {chart, type TargetName, target} from '../settings/release.ts';
import {Settings} from '../settings/settings.ts';
import type {Place} from '../wizard/place.ts';
import {fromResumeState, requireSecretFlags} from '../wizard/resume.ts';
import {
  asAsked,
  type ResumeState,
  startState,
  type WizardState,
  withAnswer,
} from '../wizard/wizard-state.ts';
import type {InstallFlags} from './install-flags.ts';
import type {CommandContext} from './operate.ts';
import type {WizardAccess} from './wizard-session.ts';

/** What answers questions before the wizard asks them. */
interface GivenAnswers {
  flags: InstallFlags;
  sources: readonly SettingsSource[];
  /** An interrupted session. */
  kept: ResumeState | undefined;
}

/** The answers that the wizard begins with. @throws ExpectedError for invalid ones */
export async function firstAnswers(
  {flags, sources, kept}: GivenAnswers,
  {app}: CommandContext,
  {account}: WizardAccess,
): Promise<{start: WizardState; given: Settings}> {
  const all = kept ? [...sources, ...fromResumeState(kept)] : sources;
  const found = await findAnswers(all, {files: app.files, now: app.now()});
  settleAnswers({answers: new Map(), problems: found.problems}, {only: []});
  if (kept) requireSecretFlags(kept, found.answers);
  const given = new Settings(found.answers);
  const others = [...found.answers].filter(([id]) => id !== target.id);
  let start = startState(new Map(others), kept);
  const place = placeOf(found.answers.get(target.id)?.value as TargetName, flags['kube-context']);
  if (place !== undefined) start = asAsked({...start, place}, target.id);
  if (flags.pool !== undefined) {
    const {host} = await account();
    const pool = {host, name: flags.pool, mustExist: !flags['create-pool']};
    start = asAsked({...withHost(start, host), pool}, 'pool', url.id);
  }
  if (given.get(chart) === undefined) return {start, given};
  const {readChartOfSettings} = await import('./read-chart.ts');
  const read = await readChartOfSettings(given, {app, flags});
  return {start: {...start, readChart: read?.target}, given};
}

const withHost = (state: WizardState, host: string): WizardState =>
  state.answers.isGiven(url)
    ? state
    : withAnswer(state, url, {value: `https://${host}`, source: 'prompt'});

/** The place that flags and answers select; a cluster must be asked for. */
function placeOf(given: TargetName | undefined, context: string | undefined): Place | undefined {
  if (context !== undefined) return {kind: 'kubernetes', context};
  return given === undefined || given === 'kubernetes' ? undefined : {kind: given};
}
