import {knowsKey} from '../../charts/releases/keys.ts';
import type {Target} from '../../charts/releases/target.ts';
import {failed} from '../../ground/errors.ts';
import {getAt, isMap, leafPaths, sameTree, spellPath} from '../../ground/tree.ts';
import type {MigratableParameter, MigratableRelease} from '../embedded/migratable-releases.ts';
import {assigned} from '../embedded/read-release.ts';
import type {TextEdit} from '../text-edits.ts';
import {type Change, changeOf, targetName} from './change.ts';
import type {KeptDefaults} from './keep-defaults.ts';
import {migrateValues} from './migrate.ts';
import {type MigratedText, migrateText} from './migrate-text.ts';

export interface MigratedRelease {
  /** The values of each place in the file. */
  texts: readonly MigratedText[];
  changes: readonly Change[];
  edits: readonly TextEdit[];
}

/** The edits of a file of another engine that migrate one release: its chart, version, values and single values. @throws ExpectedError */
export function migrateRelease(
  release: MigratableRelease,
  from: Target,
  to: Target,
  {file, keeps}: {file: string; keeps: KeptDefaults},
): MigratedRelease {
  const {kind, layers, others, parameters} = release;
  const isPartial = layers.length > 1 || others.length > 0 || parameters.length > 0;
  const given = layers.length === 0 ? [NO_VALUES] : layers.map(({values}) => values);
  const texts = given.map((text, index) => {
    // What overrides others must not override them with defaults.
    const options = {isWhole: false, isPartial, keeps: index === 0 ? keeps : 'none'} as const;
    return migrateText({file, text}, from, to, options);
  });
  if (layers.length === 0 && texts.some(({text}) => text !== NO_VALUES))
    throw failed(
      'UNREADABLE_FILE',
      `Cannot migrate ${file}: the ${kind} has no values in which the defaults of ${targetName(from)} can be kept.`,
      [`Give the ${kind} empty inline values, {}, and migrate it again`],
    );
  const single = parameters.map((each) => migrateParameter(each, kind, from, to));
  return {
    texts,
    changes: [...single.flatMap(({changes}) => changes), ...texts.flatMap(({changes}) => changes)],
    edits: [
      ...release.edits(to),
      ...single.flatMap(({edits}) => edits),
      ...layers.flatMap(({values, edit}, index) => {
        const text = texts[index]?.text;
        return text === undefined || text === values ? [] : [edit(text)];
      }),
    ],
  };
}

const NO_VALUES = '{}\n';

type MigratedParameter = Pick<MigratedRelease, 'changes' | 'edits'>;
const UNCHANGED: MigratedParameter = {changes: [], edits: []};

/** A key with one new place gets its new name; any other stays and is listed. */
function migrateParameter(
  parameter: MigratableParameter,
  kind: string,
  from: Target,
  to: Target,
): MigratedParameter {
  const given = assigned([parameter]).source?.values ?? {};
  const [path = []] = leafPaths(given);
  const {values, moves} = migrateValues(given, from, to, {keeps: 'none'});
  const places = moves.find((each) => sameTree(each.from, path))?.to ?? [];
  const [place] = places;
  if (place === undefined && knowsKey(to, path)) return UNCHANGED;
  const left = (remedy: string): MigratedParameter => ({
    changes: [
      changeOf(
        'dropped',
        path,
        `set by the ${kind} as a single value, which is not migrated.`,
        remedy,
      ),
    ],
    edits: [],
  });
  if (parameter.name.includes('['))
    return left('Move the whole list to the values, and migrate the file again');
  if (place === undefined)
    return left(`Replace or remove it: ${targetName(to)} does not have this key`);
  const value = getAt(values, place);
  if (places.length > 1 || isMap(value) || Array.isArray(value))
    return left(`Set ${places.map(spellPath).join(' and ')} instead in ${targetName(to)}`);
  const isSame = sameTree(value, getAt(given, path));
  if (isSame && sameTree(place, path)) return UNCHANGED;
  const name = spellPath(place);
  return {
    changes: [changeOf('renamed', path, `now ${name}, as a single value of the ${kind}.`)],
    edits: parameter.edits(name, isSame ? undefined : String(value)),
  };
}
