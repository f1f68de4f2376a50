import {join} from 'node:path';
import {contextComment, parseAnswers} from '../answers/answers-file.ts';
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
  const texts = hasSecrets ? [] : [{path: 'values.yaml', text: valuesDocument(generated)}];
  const paths = [ANSWERS, ...texts.map(({path}) => path)].map((path) => join(directory, path));
  try {
    const obstacle = await obstacleIn(paths, {settings, context}, files);
    if (obstacle !== undefined) return notSaved(obstacle);
    const options = {directory, settings, context, texts, isAccepted: true};
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

interface Saved {
  settings: Settings;
  context: string;
}

/** Why an existing file must stay. @throws ExpectedError */
async function obstacleIn(
  paths: readonly string[],
  saved: Saved,
  files: Files,
): Promise<string | undefined> {
  for (const path of paths) {
    if ((await files.kindOf(path, '--save')) !== 'file') continue;
    const text = (await files.read(path)).toString('utf8');
    if (!OWN.test(text)) return `${path} exists, and is not a file of this program.`;
    if (path.endsWith(ANSWERS) && isOfOther(text, saved))
      return `${path} belongs to an agent in another cluster or namespace.`;
  }
  return undefined;
}

/** The directory is named after the release; other namespaces and clusters can have one of this name. @throws ExpectedError */
function isOfOther(text: string, {settings, context}: Saved): boolean {
  const before =
    parseAnswers(text, ANSWERS).get(namespace.id) ?? namespace.fallback?.(settings.get);
  return !text.includes(contextComment(context)) || before !== settings.get(namespace);
}
