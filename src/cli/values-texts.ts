import {type ExpectedError, failed} from '../ground/errors.ts';
import {few} from '../ground/text.ts';
import type {Files} from '../ports/files.ts';
import type {FileGroup} from '../values/validate/check-files.ts';
import {readTexts} from './user-files.ts';

/** Words of files with releases; values files with them are only read twice. */
const OTHER_TOOLS = /\b(?:kind|releases|helm_release)\b/;

type Readers = Pick<Files, 'read' | 'readStdin'>;

/** What is validated together: the values of each release in a file of another tool, and each other file alone. @throws ExpectedError */
export async function readGroups(names: readonly string[], files: Readers): Promise<FileGroup[]> {
  const read = async (path: string): Promise<string> => (await files.read(path)).toString('utf8');
  const groups = (await readTexts(names, files)).map(async (each) => {
    const alone = [{files: [each], areLayers: false}];
    if (!OTHER_TOOLS.test(each.text)) return alone;
    const {releaseGroups} = await import('../values/embedded/embedded-groups.ts');
    const found = await releaseGroups(each, read);
    return found.length > 0 ? found : alone;
  });
  return (await Promise.all(groups)).flat();
}

/** The values files to merge, where a file of another tool stands for the values of its only release. @throws ExpectedError */
export async function readValuesTexts(names: readonly string[], files: Readers): Promise<{file: string; text: string}[]> {
  const found = await Promise.all(names.map(async (name) => ({name, groups: await readGroups([name], files)})));
  return found.flatMap(({name, groups}) => {
    const [group, ...others] = groups;
    if (group === undefined || others.length > 0) throw unclear(name, `it has ${groups.length} releases of the charts`);
    const {release} = group;
    if (release?.isPartial) throw unclear(name, `other values of the ${release.kind} are not in it${unreadText(release.unread)}`);
    return group.files;
  });
}

const unreadText = (unread: readonly string[]): string => (unread.length === 0 ? '' : ` (${few(unread)})`);

const unclear = (name: string, reason: string): ExpectedError =>
  failed('UNREADABLE_FILE', `Cannot tell the values in ${name}: ${reason}.`, [
    'Save all values of the release in a file of their own, and use that file',
  ]);
