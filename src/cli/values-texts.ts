import {type ExpectedError, failed} from '../ground/errors.ts';
import {few} from '../ground/text.ts';
import type {Files} from '../ports/files.ts';
import type {ValuesFile} from '../settings/escape-hatch.ts';
import type {FileGroup} from '../values/validate/check-files.ts';
import {readTexts} from './user-files.ts';

/** Words of files with releases, and names of files of other tools; values files with them are only read twice. */
const OTHER_TOOLS = /\b(?:kind|releases|helm_release|override|each cluster)\b|(?:^|\/)\.sops\.ya?ml\n|\.(?:tf|gotmpl)\n/;

type Readers = Pick<Files, 'read' | 'readStdin'>;

/** What is validated together: the values of each release in a file of another tool, and each other file alone. @throws ExpectedError */
export const readGroups = async (names: readonly string[], files: Readers): Promise<FileGroup[]> =>
  (await groupsPerFile(names, files)).flatMap(({groups}) => groups);

/** The values files to merge, where a file of another tool stands for the values of its only release. @throws ExpectedError */
export const readValuesTexts = async (names: readonly string[], files: Readers): Promise<ValuesFile[]> =>
  (await groupsPerFile(names, files)).flatMap(({file, groups: [group, ...others]}) => {
    if (group?.around) throw unclear(file, 'it has no values');
    if (group === undefined || others.length > 0) throw unclear(file, `it has ${others.length + 1} releases of the charts`);
    const {release} = group;
    if (release?.isPartial) throw unclear(file, `other values of the ${release.kind} are not in it${unreadText(release.unread)}`);
    return group.files;
  });

const groupsPerFile = async (names: readonly string[], files: Readers) =>
  Promise.all((await readTexts(names, files)).map(async (each) => ({file: each.file, groups: await groupsOf(each, files)})));

async function groupsOf(given: ValuesFile, files: Readers): Promise<FileGroup[]> {
  const alone = [{files: [given], areLayers: false}];
  if (!OTHER_TOOLS.test(`${given.file}\n${given.text}`)) return alone;
  const {releaseGroups} = await import('../values/embedded/embedded-groups.ts');
  const found = await releaseGroups(given, async (path) => (await files.read(path)).toString('utf8'));
  return found.length > 0 ? found : alone;
}

const unreadText = (unread: readonly string[]): string => (unread.length === 0 ? '' : ` (${few(unread)})`);

const unclear = (name: string, reason: string): ExpectedError =>
  failed('UNREADABLE_FILE', `Cannot tell the values in ${name}: ${reason}.`, [
    'Save all values of the release in a file of their own, and use that file',
  ]);
