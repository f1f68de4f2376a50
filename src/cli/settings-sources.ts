import {parseAnswers} from '../answers/answers-file.ts';
import {fromChartSource} from '../answers/discovered.ts';
import {findAnswers, type ResolveOptions} from '../answers/resolve.ts';
import {
  ANSWERS_VARIABLE,
  fromAnswers,
  fromEnvironment,
  fromFlags,
  type SettingsSource,
} from '../answers/sources.ts';
import {type ExpectedError, onFailure, type Warning} from '../ground/errors.ts';
import {valuesFile} from '../settings/escape-hatch.ts';
import {chart, chartVersion, type TargetName, target} from '../settings/release.ts';
import {Settings} from '../settings/settings.ts';
import {readMetadata} from '../values/chart-files.ts';
import {settingsInFiles} from '../values/validate/check-files.ts';
import type {App} from './app.ts';
import {unsupportedTarget} from './failure.ts';
import {emptyFlag, type SharedFlags} from './flags.ts';

type Reader = Pick<App, 'env' | 'files' | 'charts' | 'now'>;

/** Sources of settings, and why others could not be read: their answers are unknown, not missing. */
export interface CollectedSources {
  sources: readonly SettingsSource[];
  failures: readonly ExpectedError[];
}

/** A command with settings. */
interface SettingsCommand {
  id: string;
  targets: readonly TargetName[];
  app: Reader;
  report(warnings: readonly Warning[]): void;
}

/** Flags, variables and the answers file. */
export async function userSources(
  flags: SharedFlags,
  {env, files}: Reader,
): Promise<CollectedSources> {
  const own = [fromFlags({...flags}), fromEnvironment(env)];
  const read = async (): Promise<CollectedSources> => {
    const path = flags.answers ?? (env[ANSWERS_VARIABLE] || undefined);
    if (path === '') throw emptyFlag('answers');
    if (path === undefined) return {sources: own, failures: []};
    const name = flags.answers === undefined ? ANSWERS_VARIABLE : '--answers';
    const text = (await files.read(path).catch(onFailure(withName(name)))).toString('utf8');
    return {sources: [...own, fromAnswers(parseAnswers(text, path))], failures: []};
  };
  return read().catch(onFailure((failure) => ({sources: own, failures: [failure]})));
}

/** Names the flag or variable of a file that cannot be read. */
export const withName =
  (flag: string) =>
  (failure: ExpectedError): never => {
    if (failure.code !== 'UNREADABLE_FILE') throw failure;
    throw failure.with(`${flag}: ${failure.message}`, failure.suggestions);
  };

/** The platform of the agent must be one that the command supports: the answers for an agent in Docker must not change a cluster. */
export async function withSupportedTarget(
  {sources, failures}: CollectedSources,
  {id, targets, app}: Pick<SettingsCommand, 'id' | 'targets' | 'app'>,
): Promise<CollectedSources> {
  const {answers} = await findIn(sources, app, {only: [target]});
  const name = new Settings(answers).get(target) ?? 'kubernetes';
  return targets.includes(name)
    ? {sources, failures}
    : {sources, failures: [...failures, unsupportedTarget(id, name)]};
}

/** Adds what a chart on this machine and values files say. */
export async function withFiles(
  given: CollectedSources,
  {app, report}: Pick<SettingsCommand, 'app' | 'report'>,
): Promise<CollectedSources> {
  const failures = [...given.failures];
  const keep = onFailure((failure): SettingsSource[] => {
    failures.push(failure);
    return [];
  });
  const {files, charts} = app;
  const readName = async (source: string) =>
    readMetadata(source, (await charts.read(source)).chart);
  const ofChart = await fromChartSource(given.sources, {files, readName, report})
    .catch(onFailure(withName('--chart-source')))
    .catch(keep);
  const sources = [...given.sources, ...ofChart];
  const ofValues = await fromValuesFiles(sources, app).catch(keep);
  return {sources: [...sources, ...ofValues], failures};
}

async function fromValuesFiles(
  sources: readonly SettingsSource[],
  app: Reader,
): Promise<SettingsSource[]> {
  const {answers, problems} = await findIn(sources, app, {only: [valuesFile, chart, chartVersion]});
  const named = new Settings(answers);
  const files = named.get(valuesFile);
  // Invalid values are reported later, together with all other problems.
  if (files === undefined || problems.length > 0) return [];
  const found = settingsInFiles(files, named);
  return [
    {
      name: 'values-file',
      isParsed: true,
      answer: ({id}) => found.get(id)?.value,
      because: ({id}) => found.get(id)?.because,
    },
  ];
}

export const findIn = (
  sources: readonly SettingsSource[],
  {files, now}: Pick<App, 'files' | 'now'>,
  options: ResolveOptions,
) => findAnswers(sources, {files, now: now()}, options);
