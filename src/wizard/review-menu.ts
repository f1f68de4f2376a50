import type {Choice} from '../ground/system/system.ts';
import {count} from '../ground/text.ts';
import {catalog} from '../settings/catalog.ts';
import {settingName} from '../settings/define.ts';
import {purpose} from '../settings/purpose.ts';
import type {Notice} from './notices.ts';
import {hostOf} from './place.ts';
import type {Reviewed} from './prepare-review.ts';
import type {WizardState} from './wizard-state.ts';

/** What the user can do at the review; a fix is followed by the ID of its question. */
export type Action =
  | 'install'
  | 'again'
  | 'disk'
  | 'change'
  | 'view'
  | 'save'
  | 'print'
  | 'quit'
  | `fix:${string}`;

export interface Menu {
  state: WizardState;
  reviewed: Reviewed;
  notices: readonly Notice[];
  /** The installed release is open, and no setting was changed. */
  isUnedited: boolean;
  /** Whether files were saved, and whether they are up to date. */
  saved: 'none' | 'current' | 'stale';
  last: Action | undefined;
}

const canInstall = ({prepared, host}: Reviewed): boolean =>
  prepared !== undefined || host?.plan !== undefined;

const canSave = ({generated, host}: Reviewed): boolean =>
  generated !== undefined || host !== undefined;

export function actionsOf(menu: Menu): Choice[] {
  const {state, reviewed, notices} = menu;
  const {host, problem} = reviewed;
  const isForFiles = state.place?.kind === 'files' || state.place?.kind === 'systemd';
  const disabled = canSave(reviewed) ? undefined : 'not possible, see above';
  const files = host === undefined ? 'values.yaml' : count(host.files.length, 'file');
  const view = host === undefined ? 'View values.yaml' : 'View the files without secrets';
  const rows: (Choice & {value: Action})[] = [
    ...(isForFiles ? [] : [installRow(menu)]),
    ...(problem === undefined
      ? []
      : [{value: 'again' as const, label: 'Try again', description: 'check the same answers'}]),
    ...(problem !== undefined && OF_CHART.has(problem.code ?? '')
      ? [{value: 'disk' as const, label: 'Use a chart on this disk…'}]
      : []),
    {
      value: 'change',
      label: 'Change…',
      description: topicsText(state),
    },
    ...fixRows(notices),
    {value: 'view', label: view, disabled},
    {value: 'save', label: 'Save files', description: `${files}, answers.yaml`, disabled},
    {
      value: 'print',
      label: 'Show commands',
      description: 'to do the same without the wizard',
      disabled,
    },
    {value: 'quit', label: 'Quit'},
  ];
  return rows;
}

function topicsText(state: WizardState): string {
  if (hostOf(state) !== undefined) return 'purpose, runs, cache, network, token';
  const isForRuns = state.answers.get(purpose) === 'runs';
  const topics = isForRuns
    ? 'chart, runs, cache, network, placement, identity'
    : 'network, placement';
  return state.installed === undefined ? `${topics}, names` : topics;
}

/** Problems that a chart on this disk may solve. */
const OF_CHART: ReadonlySet<string> = new Set(['CHART_NOT_FOUND', 'HELM_FAILED']);

function installRow({reviewed, notices}: Menu): Choice & {value: Action} {
  const {prepared, host} = reviewed;
  const steps = [
    ...(prepared?.accountSteps ?? []),
    ...((prepared?.plan ?? host?.plan)?.steps ?? []),
  ].length;
  const label = prepared?.facts.release === undefined ? 'Install' : 'Update the installed release';
  const fails = notices.some(({verdict}) => verdict === 'error');
  return {
    value: 'install',
    label,
    description: fails ? 'although a check says that it will fail' : doneText(steps),
    disabled: canInstall(reviewed) ? undefined : 'not possible, see above',
  };
}

const doneText = (steps: number): string =>
  steps === 0 ? 'nothing to change' : count(steps, 'step');

/** One row for each question, with the first problem that its answer removes. */
function fixRows(notices: readonly Notice[]): (Choice & {value: Action})[] {
  const fixable = notices.filter(({fix}) => fix !== undefined);
  const firsts = fixable.filter(
    ({fix}, index) => fixable.findIndex((each) => each.fix === fix) === index,
  );
  return firsts.map(({fix = '', message}) => ({
    value: `fix:${fix}` as const,
    label: `Fix ${questionName(fix)}`,
    description: message.split('\n')[0],
  }));
}

function questionName(id: string): string {
  const setting = catalog.find((each) => each.id === id);
  return setting === undefined ? id.replaceAll('-', ' ') : settingName(setting);
}

/** Enter after reading must not install, and nothing that will fail is preselected. */
export function preselected(menu: Menu): Action {
  const {state, reviewed, notices, isUnedited, saved, last} = menu;
  if (last === 'save' && saved === 'current') return 'quit';
  if (last !== undefined) return last;
  const errors = notices.filter(({verdict}) => verdict === 'error');
  const urgent = notices.filter(({isUrgent, verdict}) => isUrgent || verdict === 'error');
  const fix = urgent.find((each) => each.fix !== undefined)?.fix;
  if (fix !== undefined) return `fix:${fix}`;
  // Another answer would change nothing.
  if (reviewed.problem?.problems.length === 0) return 'again';
  const hasNothingToDo =
    state.installed !== undefined && reviewed.prepared?.plan.steps.length === 0;
  if (!canSave(reviewed) || hasNothingToDo || isUnedited) return 'change';
  if (errors.length > 0) return 'change';
  return saved === 'stale' || !canInstall(reviewed) ? 'save' : 'install';
}
