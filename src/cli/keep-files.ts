import {join} from 'node:path';
import {parseAnswers} from '../answers/answers-file.ts';
import {ExpectedError} from '../ground/errors.ts';
import type {Files} from '../ground/system/system.ts';
import {namespace} from '../settings/release.ts';
import type {Settings} from '../settings/settings.ts';
import {isPrivate, valuesDocument} from '../values/document.ts';
import type {GeneratedValues} from '../values/generate.ts';
import {saveFiles} from './save-files.ts';

/** The first line of every file that this program saves. */
const OWN = /^# (Answers file for scalr-agent|Values of agent-)/;

const ANSWERS = 'answers.yaml';

export interface KeptFiles {
  saved: readonly string[];
  /** What was not saved, and why. */
  note: string;
}

/** Saves the answers and the values of a wizard without a question. What is not saved is a sentence, not a failure. */
export async function keepFiles(
  generated: GeneratedValues,
  {directory, context}: {directory: string; context: string},
  files: Files,
): Promise<KeptFiles> {
  const {settings} = generated;
  const hasSecrets = isPrivate(generated);
  const values = {path: 'values.yaml', text: valuesDocument(generated)};
  const texts = hasSecrets ? [] : [values];
  const paths = [ANSWERS, ...texts.map(({path}) => path)];
  try {
    const foreign = await foreignFile(
      paths.map((path) => join(directory, path)),
      files,
    );
    if (foreign !== undefined)
      return notSaved(`${foreign} exists, and scalr-agent did not write it.`);
    if (await holdsOtherRelease(join(directory, ANSWERS), settings, files))
      return notSaved(`${join(directory, ANSWERS)} belongs to an agent in another namespace.`);
    const options = {directory, settings, context, texts, isAccepted: true, prompter: undefined};
    const saved = await saveFiles(options, files);
    return {saved, note: hasSecrets ? WITHOUT_VALUES : ''};
  } catch (error) {
    if (!(error instanceof ExpectedError)) throw error;
    return notSaved(error.message);
  }
}

const WITHOUT_VALUES =
  'values.yaml was not saved, because it can contain secrets. To save it, add --save DIRECTORY.\n';

const notSaved = (reason: string): KeptFiles => ({
  saved: [],
  note: `Not saved: ${reason} To save elsewhere, add --save DIRECTORY.\n`,
});

/** A file that somebody else wrote. */
async function foreignFile(paths: readonly string[], files: Files): Promise<string | undefined> {
  for (const path of paths) {
    if ((await files.kindOf(path, '--save')) !== 'file') continue;
    if (!OWN.test((await files.read(path)).toString('utf8'))) return path;
  }
  return undefined;
}

/** The directory is named after the release, which other namespaces can have, too. @throws ExpectedError */
async function holdsOtherRelease(path: string, settings: Settings, files: Files): Promise<boolean> {
  if ((await files.kindOf(path, '--save')) !== 'file') return false;
  const answers = parseAnswers((await files.read(path)).toString('utf8'), path);
  const before = answers.get(namespace.id) ?? namespace.fallback?.(settings.get);
  return before !== settings.get(namespace);
}
