import {isChart} from '../../charts/releases/chart-name.ts';
import {isMap, itemsAt, type Tree, textAt, type Values} from '../../ground/tree.ts';
import type {ValuesFile} from '../../settings/chart-values.ts';
import {readSource, type ValuesReading} from '../reading/source.ts';
import type {CheckedFile, FileGroup} from '../validate/file-group.ts';
import type {Assignment} from './engines.ts';
import {assigned} from './read-release.ts';
import {type ReleaseVersion, releaseVersion, versionIn} from './release-version.ts';

/** What `tofu show -json` prints of a plan or of the state. */
export const isPlan = (text: string): boolean =>
  /^\s*\{/.test(text) &&
  /"format_version"\s*:/.test(text) &&
  /"(planned_values|values|terraform_version)"\s*:/.test(text);

/** A `helm_release`, and what of it is known only after the apply. */
interface HelmResource {
  address: string;
  values: Values;
  unknown: Values;
}

/** The values of every release of ours in a plan or a state; findings have the address of the resource. */
export function planGroups(given: ValuesFile): FileGroup[] {
  const plan = JSON.parse(given.text) as Values;
  const groups = resourcesOf(plan).flatMap((each) => groupOf(each, given));
  return groups.length > 0 ? groups : [{files: [given], areLayers: false, around: []}];
}

function resourcesOf(plan: Values): HelmResource[] {
  const changes = new Map(
    itemsAt(plan, 'resource_changes')
      .filter(isMap)
      .map((each) => [textAt(each, 'address'), each]),
  );
  const root = (isMap(plan['planned_values']) ? plan['planned_values'] : plan['values']) as Tree;
  const module = isMap(root) ? root['root_module'] : undefined;
  return resourcesBelow(module).map(({address, values}) => {
    const change = changes.get(address)?.['change'];
    const unknown = isMap(change) ? change['after_unknown'] : undefined;
    return {address, values, unknown: isMap(unknown) ? unknown : {}};
  });
}

function resourcesBelow(module: Tree | undefined): Pick<HelmResource, 'address' | 'values'>[] {
  if (!isMap(module)) return [];
  const own = itemsAt(module, 'resources').flatMap((each) =>
    isMap(each) && each['type'] === 'helm_release' && isMap(each['values'])
      ? [{address: textAt(each, 'address'), values: each['values']}]
      : [],
  );
  return [...own, ...itemsAt(module, 'child_modules').flatMap(resourcesBelow)];
}

function groupOf({address, values, unknown}: HelmResource, given: ValuesFile): FileGroup[] {
  const chart = textAt(values, 'chart').split('/').at(-1);
  if (!isChart(chart)) return [];
  const found: ReleaseVersion =
    unknown['version'] === true
      ? {unknown: 'its version is known only after the apply'}
      : releaseVersion(chart, textAt(values, 'version'));
  const {layers, unread} = valuesOf({address, values, unknown});
  return [
    {
      files: layers.map((read): CheckedFile => ({...given, read})),
      areLayers: true,
      release: {
        kind: address,
        chart,
        ...versionIn(given.file, found),
        unread,
        around: [],
        address,
      },
    },
  ];
}

function valuesOf({values, unknown}: HelmResource): {layers: ValuesReading[]; unread: string[]} {
  const texts = itemsAt(values, 'values').filter((each) => typeof each === 'string');
  const isKnown = unknown['values'] === undefined || sameUnknown(unknown['values'], false);
  const assignments = ['set', 'set_list', 'set_sensitive'].flatMap((key) =>
    assignmentsIn(values[key], unknown[key], key === 'set_list'),
  );
  return {
    layers: [...texts.map(withoutPosition), assigned(assignments)],
    unread: isKnown ? [] : ['values known only after the apply'],
  };
}

/** True if no part of it is unknown. */
const sameUnknown = (tree: Tree | undefined, isUnknown: boolean): boolean =>
  Array.isArray(tree) ? tree.every((each) => sameUnknown(each, isUnknown)) : tree === isUnknown;

function assignmentsIn(
  blocks: Tree | undefined,
  unknown: Tree | undefined,
  isList: boolean,
): Assignment[] {
  if (!Array.isArray(blocks)) return [];
  return blocks.flatMap((block, index) => {
    if (!isMap(block)) return [];
    const {value, type} = block;
    const after = Array.isArray(unknown) ? unknown[index] : undefined;
    const isUnknown =
      isList || typeof value !== 'string' || (isMap(after) && after['value'] === true);
    const assignment = {name: textAt(block, 'name'), isText: type === 'string', at: []};
    return [isUnknown ? assignment : {...assignment, value}];
  });
}

/** The lines of a text in JSON are not those of a file. */
const withoutPosition = (text: string): ValuesReading => {
  const {source, findings} = readSource(text);
  return {
    ...(source && {source: {...source, locate: () => undefined}}),
    findings: findings.map((each) => ({...each, subject: {path: each.subject.path}})),
  };
};
