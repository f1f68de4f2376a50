import type {Target} from '../../charts/define.ts';
import type {ChartName} from '../../charts/schema.ts';
import {targetOf} from '../../charts/target.ts';
import {ExitCode, ExpectedError, type Warning} from '../../ground/errors.ts';
import {closest} from '../../ground/text.ts';
import {chart, chartVersion} from '../../settings/release.ts';
import {Settings} from '../../settings/settings.ts';

const CHARTS: readonly ChartName[] = ['agent-k8s', 'agent-local', 'agent-job'];

export const isChart = (name: unknown): name is ChartName => CHARTS.includes(name as ChartName);

/** The text CHART@VERSION, or CHART for its newest version. @throws ExpectedError */
export function parseTarget(flag: '--from' | '--to', text: string, read?: Target): {target: Target; warnings: Warning[]} {
  const [name = '', version, ...more] = text.split('@');
  if (!isChart(name) || more.length > 0 || version === '') {
    const near = closest(name, CHARTS);
    const example = `${near ?? 'agent-job'}@${version || '0.6.5'}`;
    const isUnknown = more.length === 0 && /^agent-[a-z0-9-]+$/.test(name) && !isChart(name);
    throw new ExpectedError(isUnknown ? `${flag}: unknown chart ${name}.` : `${flag}: "${text}" is not CHART@VERSION.`, {
      code: 'INVALID_SETTING',
      exit: ExitCode.usage,
      suggestions: [`Example: ${flag} ${example}`, `Charts: ${CHARTS.join(', ')}`],
    });
  }
  return checkTarget(flag, name, version, read);
}

/** The chart in this version, or in its newest one. @throws ExpectedError for a version that was never released */
export function checkTarget(
  flag: '--from' | '--to',
  name: ChartName,
  version?: string,
  read?: Target,
): {target: Target; warnings: Warning[]} {
  if (version !== undefined && !/^v?\d+\.\d+\.\d+([-+].*)?$/.test(version)) {
    throw new ExpectedError(`${flag}: "${version}" is not a chart version.`, {
      code: 'INVALID_SETTING',
      exit: ExitCode.usage,
      suggestions: [`Example: ${flag} ${name}@0.6.5`],
    });
  }
  const answers = new Map([[chart.id, {value: name, source: 'flag' as const}]]);
  if (version !== undefined) answers.set(chartVersion.id, {value: version.replace(/^v/, '') as ChartName, source: 'flag'});
  try {
    return targetOf(new Settings(answers), () => name, read);
  } catch (error) {
    if (!(error instanceof ExpectedError)) throw error;
    const suggestions = error.suggestions.map((each) => each.replace('--chart-version ', `${flag} ${name}@`));
    throw new ExpectedError(error.message, {...error, suggestions});
  }
}
