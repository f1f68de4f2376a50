import {join} from 'node:path';
import {answersText} from '../answers/answers-file.ts';
import type {Files} from '../ports/files.ts';
import type {Settings} from '../settings/settings.ts';
import {writeValuesFile} from './values-file.ts';

interface Saving {
  /** Without one nothing is saved. */
  directory: string | undefined;
  settings: Settings;
  values: string;
  isAccepted: boolean;
  confirm: ((question: string) => Promise<boolean>) | undefined;
}

/** Writes answers.yaml and values.yaml into a directory, readable by their owner only. Returns their paths. @throws ExpectedError */
export async function saveFiles({directory, settings, values, isAccepted, confirm}: Saving, files: Files): Promise<string[]> {
  if (directory === undefined) return [];
  const texts = {'answers.yaml': answersText(settings), 'values.yaml': values};
  const paths: string[] = [];
  for (const [name, text] of Object.entries(texts)) {
    const path = join(directory, name);
    await writeValuesFile({path, text, isPrivate: true, isDryRun: false, isAccepted, flag: '--save'}, files, confirm);
    paths.push(path);
  }
  return paths;
}

/** Where what was seen of a failed release goes. */
export const evidencePath = (directory: string | undefined, release: string, now: Date): string =>
  join(directory ?? '', `${release}-evidence-${now.toISOString().replace(/\.\d+|[:-]/g, '')}.json`);
