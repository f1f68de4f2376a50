import {ExpectedError, type Warning} from '../ground/errors.ts';
import {isPrintable} from '../ground/text.ts';
import type {Files} from '../ports/files.ts';
import type {Setting} from '../settings/define.ts';
import {chart, chartSource, chartVersion} from '../settings/release.ts';
import type {SettingsSource} from './sources.ts';

/** `oci://registry/agent-job:0.6.5`, `https://host/agent-job-0.6.5.tgz` */
const REFERENCE = /^[a-z]+:\/\/.*\/(agent-(?:k8s|local|job))(?:[:-](\d+\.\d+\.\d+))?(?:\.tgz)?$/i;

interface ChartId {
  name?: string | undefined;
  version?: string | undefined;
}

interface ChartSourceDeps {
  files: Pick<Files, 'kindOf'>;
  /** Reads a chart on this machine. @throws ExpectedError if it is not one of the three charts */
  readName(source: string): Promise<ChartId>;
  report(warnings: readonly Warning[]): void;
}

/** Name and version of the chart in --chart-source, as a source of answers. @throws ExpectedError on a conflict with another source */
export async function fromChartSource(sources: readonly SettingsSource[], deps: ChartSourceDeps): Promise<SettingsSource[]> {
  // An invalid value is reported later, together with all other problems.
  const answerTo = (setting: Setting): string | undefined => {
    const raw = sources.map((each) => each.answer(setting)).find((each) => each !== undefined);
    return typeof raw === 'string' && raw !== '' && isPrintable(raw) ? (setting.meant?.(raw) ?? raw) : undefined;
  };
  const source = answerTo(chartSource);
  if (source === undefined) return [];
  const [name, version] = [answerTo(chart), answerTo(chartVersion)];
  const own = await nameOf(source, deps, name !== undefined);
  refuseOther(chart, name, own);
  refuseOther(chartVersion, version, own);
  // Not its URL, which may contain a password.
  return [{name: 'default', answer: (setting) => ownOf(setting, own), because: () => 'read from --chart-source'}];
}

async function nameOf(source: string, {files, readName, report}: ChartSourceDeps, isNamed: boolean): Promise<ChartId> {
  const [, name, version] = REFERENCE.exec(source) ?? [];
  if (name !== undefined || /^[a-z]+:\/\//i.test(source)) return {name, version};
  if (!isNamed || (await files.kindOf(source)) !== 'nothing') return readName(source);
  // The chart may exist only on the machine that uses the values.
  report([{code: 'NO_CHART', message: `--chart-source ${source} does not exist on this machine, so its version was not read.`}]);
  return {};
}

function ownOf(setting: Setting, {name, version}: ChartId): string | undefined {
  if (setting === chart) return name;
  return setting === chartVersion ? version : undefined;
}

function refuseOther(setting: Setting, answer: string | undefined, {name, version}: ChartId): void {
  const own = ownOf(setting, {name, version});
  if (answer === undefined || own === undefined || answer === own) return;
  throw new ExpectedError(
    `--${setting.id} is ${answer}, but the chart in --chart-source is ${[name, version].filter(Boolean).join(' ')}.`,
    {code: 'CONFLICTING_SETTINGS', suggestions: [`Remove --${setting.id}, or set it to ${own}`, 'Set --chart-source to another chart']},
  );
}
