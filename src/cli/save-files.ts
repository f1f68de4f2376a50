import {join, resolve} from 'node:path';
import {answersText} from '../answers/answers-file.ts';
import type {Files} from '../ground/system/system.ts';
import type {Settings} from '../settings/settings.ts';
import {type Confirmer, SAVED, writeAll} from './write-files.ts';

interface SaveOptions {
  /** Nothing is saved without a directory. */
  directory: string | undefined;
  settings: Settings;
  /** Kubeconfig context of the settings, for a comment. */
  context?: string | undefined;
  /** Besides answers.yaml. */
  texts: readonly {path: string; text: string}[];
  isAccepted: boolean;
  prompter?: Confirmer;
}

/** Writes answers.yaml and the texts to a directory, readable only by their owner, all or none. Returns their paths. @throws ExpectedError */
export async function saveFiles(
  {directory, settings, context, texts, isAccepted, prompter}: SaveOptions,
  files: Files,
): Promise<string[]> {
  if (directory === undefined) return [];
  const answers = {path: 'answers.yaml', text: answersText(withAbsolutePaths(settings), context)};
  const all = [answers, ...texts].map(({path, text}) => ({
    path: join(directory, path),
    text,
    isPrivate: true,
  }));
  await writeAll(all, files, SAVED, {isDryRun: false, isAccepted, prompter});
  return all.map(({path}) => path);
}

/** The answers file may be used from any directory. */
export const withAbsolutePaths = (settings: Settings): Settings =>
  settings
    .entries()
    .reduce(
      (all, {setting, answer}) =>
        setting.kind.isFile && answer.given !== undefined && answer.given !== '-'
          ? all.with(setting, {...answer, given: resolve(answer.given)})
          : all,
      settings,
    );

/** Path of the diagnostics file of a failed release. */
export const diagnosticsPath = (
  directory: string | undefined,
  release: string,
  now: Date,
): string =>
  join(
    directory ?? '',
    `${release}-diagnostics-${now.toISOString().replace(/\.\d+|[:-]/g, '')}.json`,
  );
