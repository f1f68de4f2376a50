import {ExitCode, ExpectedError} from '../errors.ts';
import type {Files} from '../ports/files.ts';
import type {Setting} from '../settings/define.ts';
import {chart, chartSource, chartVersion} from '../settings/release.ts';
import {isPrintable} from '../settings/text.ts';
import type {Source} from './sources.ts';

/** `oci://registry/agent-job:0.6.5`, `https://host/agent-job-0.6.5.tgz` */
const REFERENCE = /^[a-z]+:\/\/.*\/(agent-(?:k8s|local|job))(?:[:-](\d+\.\d+\.\d+))?(?:\.tgz)?$/i;

interface Named {
  name?: string | undefined;
  version?: string | undefined;
}

interface World {
  files: Pick<Files, 'kindOf'>;
  /** Of a chart on this machine. @throws ExpectedError when it is none of the three */
  readName(source: string): Promise<Named>;
}

/** What a chart that --chart-source names says of itself, where nobody else does. @throws ExpectedError when somebody says otherwise */
export async function fromChartSource(said: readonly Source[], world: World): Promise<Source[]> {
  // What cannot be meant is refused with all else that is wrong.
  const answerTo = (setting: Setting): string | undefined => {
    const raw = said.map((each) => each.answer(setting)).find((each) => each !== undefined);
    return typeof raw === 'string' && raw !== '' && isPrintable(raw) ? raw : undefined;
  };
  const source = answerTo(chartSource);
  if (source === undefined) return [];
  const [name, version] = [answerTo(chart), answerTo(chartVersion)];
  const own = await nameOf(source, world, name !== undefined);
  refuseOther(chart, name, own);
  refuseOther(chartVersion, version, own);
  // Not its address, which may hold a password.
  return [{name: 'default', answer: (setting) => ownOf(setting, own), because: () => 'the chart of --chart-source says so'}];
}

async function nameOf(source: string, {files, readName}: World, isSaid: boolean): Promise<Named> {
  const [, name, version] = REFERENCE.exec(source) ?? [];
  // A chart may be named that only lies where the values go to.
  if (name !== undefined || /^[a-z]+:\/\//i.test(source) || (isSaid && (await files.kindOf(source)) === 'nothing')) return {name, version};
  return readName(source);
}

function ownOf(setting: Setting, {name, version}: Named): string | undefined {
  if (setting === chart) return name;
  return setting === chartVersion ? version : undefined;
}

function refuseOther(setting: Setting, said: string | undefined, {name, version}: Named): void {
  const own = ownOf(setting, {name, version});
  if (said === undefined || own === undefined || said === own) return;
  throw new ExpectedError(`--${setting.id} says ${said}, and the chart at hand is ${[name, version].filter(Boolean).join(' ')}.`, {
    code: 'CONFLICTING_SETTINGS',
    exit: ExitCode.usage,
    suggestions: [`Leave out --${setting.id}, or give it as ${own}`, 'Name another chart with --chart-source'],
  });
}
