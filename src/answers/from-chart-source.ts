import {ExitCode, ExpectedError} from '../errors.ts';
import type {Files} from '../ports/files.ts';
import type {Setting} from '../settings/define.ts';
import {chart, chartSource, chartVersion} from '../settings/release.ts';
import {isPrintable} from '../settings/text.ts';
import type {Source} from './sources.ts';

/** `oci://registry/agent-job:0.6.5`, `https://host/agent-job-0.6.5.tgz` */
const REFERENCE = /^[a-z]+:\/\/.*\/(agent-(?:k8s|local|job))(?:[:-](\d+\.\d+\.\d+))?(?:\.tgz)?$/i;

interface ChartId {
  name?: string | undefined;
  version?: string | undefined;
}

interface ChartSourceDeps {
  files: Pick<Files, 'kindOf'>;
  /** Of a chart on this machine. @throws ExpectedError when it is none of the three */
  readName(source: string): Promise<ChartId>;
}

/** Name and version of the chart that --chart-source names, as one more source. @throws ExpectedError when another source contradicts */
export async function fromChartSource(sources: readonly Source[], deps: ChartSourceDeps): Promise<Source[]> {
  // An invalid value is refused later, together with all other problems.
  const answerTo = (setting: Setting): string | undefined => {
    const raw = sources.map((each) => each.answer(setting)).find((each) => each !== undefined);
    return typeof raw === 'string' && raw !== '' && isPrintable(raw) ? raw : undefined;
  };
  const source = answerTo(chartSource);
  if (source === undefined) return [];
  const [name, version] = [answerTo(chart), answerTo(chartVersion)];
  const own = await nameOf(source, deps, name !== undefined);
  refuseOther(chart, name, own);
  refuseOther(chartVersion, version, own);
  // Not its address, which may hold a password.
  return [{name: 'default', answer: (setting) => ownOf(setting, own), because: () => 'the chart of --chart-source says so'}];
}

async function nameOf(source: string, {files, readName}: ChartSourceDeps, isNamed: boolean): Promise<ChartId> {
  const [, name, version] = REFERENCE.exec(source) ?? [];
  // A chart may be named that only lies where the values go to.
  if (name !== undefined || /^[a-z]+:\/\//i.test(source) || (isNamed && (await files.kindOf(source)) === 'nothing')) return {name, version};
  return readName(source);
}

function ownOf(setting: Setting, {name, version}: ChartId): string | undefined {
  if (setting === chart) return name;
  return setting === chartVersion ? version : undefined;
}

function refuseOther(setting: Setting, answer: string | undefined, {name, version}: ChartId): void {
  const own = ownOf(setting, {name, version});
  if (answer === undefined || own === undefined || answer === own) return;
  throw new ExpectedError(`--${setting.id} says ${answer}, and the chart at hand is ${[name, version].filter(Boolean).join(' ')}.`, {
    code: 'CONFLICTING_SETTINGS',
    exit: ExitCode.usage,
    suggestions: [`Leave out --${setting.id}, or give it as ${own}`, 'Name another chart with --chart-source'],
  });
}
