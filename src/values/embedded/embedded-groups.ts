import {dirname, join} from 'node:path';
import {ExpectedError} from '../../ground/errors.ts';
import type {ValuesFile} from '../../settings/escape-hatch.ts';
import type {FileGroup} from '../validate/check-files.ts';
import type {SourceProblem, ValuesFinding} from '../validate/finding.ts';
import type {EmbeddedRelease} from './embedded-release.ts';
import {fileProblems, isExact} from './embedded-release.ts';
import {embeddedReleases} from './embedded-releases.ts';

/** The values of each release in a file of another tool, with the values files that it names; empty for other files. @throws ExpectedError */
export async function releaseGroups(given: ValuesFile, read: (path: string) => Promise<string>): Promise<FileGroup[]> {
  const {file, text} = given;
  const groups = embeddedReleases(file, text).flatMap((release) =>
    release.fileSets.map((paths, index) => groupOf(given, index === 0 ? release : {...release, problems: []}, paths, read)),
  );
  const [first, ...others] = await Promise.all(groups);
  if (first?.release === undefined) return [];
  const ofFile = fileProblems(text).map((each) => findingOf(each, given));
  return [{...first, release: {...first.release, around: [...ofFile, ...first.release.around]}}, ...others];
}

async function groupOf(
  given: ValuesFile,
  {kind, chart, version, inPlace, parameters, hasOtherValues, problems}: EmbeddedRelease,
  paths: readonly string[],
  read: (path: string) => Promise<string>,
): Promise<FileGroup> {
  const {file, text} = given;
  const named = await Promise.all(paths.map(async (path) => ({path, ...(await readBeside(file, path, read))})));
  const unread = named.flatMap((each) => (each.text === undefined ? [each.path] : []));
  const layers = named.flatMap((each) => (each.text === undefined ? [] : [{file: each.file, text: each.text}]));
  const isOwn = inPlace !== undefined || layers.length === 0;
  const files = [...layers, ...(isOwn ? [{file, text: inPlace ?? '{}\n', shown: text}] : [])];
  return {
    files,
    areLayers: files.length > 1 || !isOwn,
    release: {
      ...{kind, chart, version: isExact(version) ? version.replace(/^v/, '') : undefined, unread},
      isPartial: unread.length > 0 || parameters.length > 0 || (hasOtherValues && paths.length === 0),
      around: problems.map((each) => findingOf(each, given)),
    },
  };
}

/** Without a text if it cannot be read here, or is a template. */
async function readBeside(
  file: string,
  path: string,
  read: (path: string) => Promise<string>,
): Promise<{file: string; text?: string | undefined}> {
  const place = join(dirname(file), path);
  try {
    const text = await read(place);
    return {file: place, text: text.includes('{{') ? undefined : text};
  } catch (error) {
    if (!(error instanceof ExpectedError)) throw error;
    return {file: place};
  }
}

function findingOf({offset, path: _, severity = 'error', ...problem}: SourceProblem, {file, text}: ValuesFile): ValuesFinding {
  const before = text.slice(0, offset);
  return {
    ...problem,
    severity,
    path: '',
    file,
    line: before.split('\n').length,
    column: offset - before.lastIndexOf('\n'),
  } as ValuesFinding;
}
