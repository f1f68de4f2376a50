import type {InstallFacts} from '../cluster/install-facts.ts';
import {ExitCode, ExpectedError} from '../errors.ts';
import {template} from '../helm/helm.ts';
import {brokenPromises, lostValues} from '../plan/check-manifest.ts';
import type {WantedRelease} from '../plan/install.ts';
import type {Processes} from '../ports/processes.ts';
import {toolFailure} from '../ports/tool-failure.ts';
import type {Get} from '../settings/define.ts';

/** Renders the chart with the operator's own helm before anything is applied. Returns the manifest. @throws ExpectedError */
export async function checkRendering(
  {name, chart, yaml}: Pick<WantedRelease, 'name' | 'chart' | 'yaml'>,
  {serverVersion}: Pick<InstallFacts, 'serverVersion'>,
  get: Get,
  processes: Processes,
): Promise<string> {
  const call = template(name, chart, yaml, serverVersion);
  const outcome = await processes.run(call);
  if (outcome.exitCode !== 0) throw toolFailure(call, outcome);
  const problems = [...lostValues(outcome.stderr).map((line) => `Helm loses a value: ${line}`), ...brokenPromises(outcome.stdout, get)];
  if (problems.length > 0) {
    throw new ExpectedError(`The chart does not do what the settings say:\n${problems.join('\n')}`, {
      code: 'BROKEN_PROMISE',
      exit: ExitCode.failed,
      suggestions: ['Nothing was changed. Report this with the output of: scalr-agent values --explain'],
    });
  }
  return outcome.stdout;
}
