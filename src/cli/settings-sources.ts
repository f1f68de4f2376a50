import {fromChartSource} from '../answers/discovered.ts';
import {findAnswers, type ResolveOptions} from '../answers/resolve.ts';
import {
  ANSWERS_VARIABLE,
  fromEnvironment,
  fromFlags,
  type SettingsSource,
} from '../answers/sources.ts';
import {type ExpectedError, onFailure} from '../ground/errors.ts';
import type {SettingFinding} from '../ground/finding.ts';
import {valuesFile} from '../settings/chart-values.ts';
import {agentImage} from '../settings/images.ts';
import {chart, chartVersion, type TargetName, target} from '../settings/release.ts';
import {Settings} from '../settings/settings.ts';
import type {App} from './app.ts';
import {unsupportedTarget} from './failure.ts';
import {emptyFlag} from './flag-values.ts';
import type {SharedFlags} from './flags.ts';

type Reader = Pick<App, 'env' | 'files' | 'charts' | 'now'>;

/** Sources of settings, and why others are wrong. */
export interface CollectedSources {
  sources: readonly SettingsSource[];
  failures: readonly ExpectedError[];
  /** A file with settings could not be read: its answers are unknown, not missing. */
  hasUnread: boolean;
}

/** A command with settings. */
interface SettingsCommand {
  id: string;
  targets: readonly TargetName[];
  app: Reader;
  report(warnings: readonly SettingFinding[]): void;
}

type Attempt = Omit<CollectedSources, 'hasUnread'>;

const unread = onFailure((failure): Attempt => ({sources: [], failures: [failure]}));

const attempt = (reading: Promise<SettingsSource[]>): Promise<Attempt> =>
  reading.then((sources): Attempt => ({sources, failures: []})).catch(unread);

/** Flags, variables and the answers file, which must be for a platform that the command supports. */
export async function userSources(
  flags: SharedFlags,
  command: Pick<SettingsCommand, 'id' | 'targets' | 'app'>,
): Promise<CollectedSources> {
  const {app} = command;
  const {sources, failures} = await fromAnswersFile(flags, app).catch(unread);
  const given = {
    sources: [fromFlags({...flags}), fromEnvironment(app.env), ...sources],
    failures,
    hasUnread: failures.length > 0,
  };
  return withSupportedTarget(given, command);
}

/** Settings that do not exist hide no problem of the others. */
async function fromAnswersFile(flags: SharedFlags, {env, files}: Reader): Promise<Attempt> {
  const path = flags.answers ?? (env[ANSWERS_VARIABLE] || undefined);
  if (path === '') throw emptyFlag('answers');
  if (path === undefined) return {sources: [], failures: []};
  const name = flags.answers === undefined ? ANSWERS_VARIABLE : '--answers';
  const content = await files.read(path).catch(onFailure(withName(name)));
  const {answersFileSource} = await import('../answers/answers-file.ts');
  const {source, unknown} = answersFileSource(content.toString('utf8'), path);
  return {sources: [source], failures: unknown === undefined ? [] : [unknown]};
}

/** Names the flag or variable of a file that cannot be read. */
export const withName =
  (flag: string) =>
  (failure: ExpectedError): never => {
    if (failure.code !== 'UNREADABLE_FILE') throw failure;
    throw failure.with(`${flag}: ${failure.message}`, failure.suggestions);
  };

/** The platform of the agent must be one that the command supports: the answers for an agent in Docker must not change a cluster. */
async function withSupportedTarget(
  given: CollectedSources,
  {id, targets, app}: Pick<SettingsCommand, 'id' | 'targets' | 'app'>,
): Promise<CollectedSources> {
  const {answers} = await findIn(given.sources, app, {only: [target]});
  const name = new Settings(answers).get(target) ?? 'kubernetes';
  return targets.includes(name)
    ? given
    : {...given, failures: [...given.failures, unsupportedTarget(id, name)]};
}

/** Adds what a chart on this machine and values files say. */
export async function withFiles(
  given: CollectedSources,
  {app, report}: Pick<SettingsCommand, 'app' | 'report'>,
): Promise<CollectedSources> {
  const {files, charts} = app;
  const readName = async (source: string) => {
    const {readMetadata} = await import('../values/chart-files.ts');
    return readMetadata(source, (await charts.read(source)).chart);
  };
  const reading = fromChartSource(given.sources, {files, readName, report});
  const ofChart = await attempt(reading.catch(onFailure(withName('--chart-source'))));
  const sources = [...given.sources, ...ofChart.sources];
  const ofValues = await attempt(fromValuesFiles(sources, app));
  return {
    sources: [...sources, ...ofValues.sources],
    failures: [...given.failures, ...ofChart.failures, ...ofValues.failures],
    hasUnread: given.hasUnread || ofValues.failures.length > 0,
  };
}

async function fromValuesFiles(
  sources: readonly SettingsSource[],
  app: Reader,
): Promise<SettingsSource[]> {
  const {answers, problems} = await findIn(sources, app, {
    only: [valuesFile, chart, chartVersion, agentImage],
  });
  const named = new Settings(answers);
  const files = named.get(valuesFile);
  // Invalid values are reported later, together with all other problems.
  if (files === undefined || problems.length > 0) return [];
  const {settingsInFiles} = await import('../values/validate/guess-chart.ts');
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
