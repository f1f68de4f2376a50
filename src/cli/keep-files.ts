import {join} from 'node:path';
import {ExpectedError} from '../ground/errors.ts';
import type {Files} from '../ports/files.ts';
import {isPrivate, valuesDocument} from '../values/document.ts';
import type {Generated} from '../values/generate.ts';
import {saveFiles} from './user-files.ts';

/** The first line of every file that this program saves. */
const OWN = /^# (Answers file for scalr-agent|Values of agent-)/;

/** Saves the answers and the values of a wizard without a question. What is not saved is a sentence, not a failure. */
export async function keepFiles(
  {settings, ...generated}: Generated,
  {directory, context}: {directory: string; context: string},
  files: Files,
): Promise<{saved: readonly string[]; note: string}> {
  const hasSecrets = isPrivate({settings, ...generated});
  const texts = hasSecrets ? [] : [{path: 'values.yaml', text: valuesDocument({settings, ...generated})}];
  const left = hasSecrets ? 'values.yaml was not saved, because it can contain secrets. To save it, add --save DIRECTORY.\n' : '';
  try {
    for (const path of ['answers.yaml', ...texts.map((each) => each.path)].map((name) => join(directory, name))) {
      const isFile = (await files.kindOf(path, '--save')) === 'file';
      if (isFile && !OWN.test((await files.read(path)).toString('utf8')))
        return {saved: [], note: `Not saved: ${path} exists, and scalr-agent did not write it. To save elsewhere, add --save DIRECTORY.\n`};
    }
    const saved = await saveFiles({directory, settings, context, texts, isAccepted: true, confirm: undefined}, files);
    return {saved, note: left};
  } catch (error) {
    if (!(error instanceof ExpectedError)) throw error;
    return {saved: [], note: `Not saved: ${error.message} To save elsewhere, add --save DIRECTORY.\n`};
  }
}
