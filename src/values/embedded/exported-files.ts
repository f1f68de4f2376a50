import {isChart} from '../../charts/releases/chart-name.ts';
import {isMap, itemsAt, type Tree, textAt, type Values} from '../../ground/tree.ts';
import {type Manifest, readManifests} from '../reading/manifests.ts';
import type {TreePath} from '../reading/tree-path.ts';
import {normalized} from '../reading/yaml-syntax.ts';
import type {EngineRelease, ValuesOrigin} from './engines.ts';
import {textInPlace} from './inline-values.ts';

/** In values that are incomplete without those of a cluster. */
const INCOMPLETE = /^# Values of (agent-\w+) (\S+): each cluster adds its own\.$/m;
/** A directory or file with the values that clusters share. */
const BASE = /(agent-(?:k8s|local|job))-(\d+\.\d+\.\d+)[^/]*$/;

/** What `export` writes for one cluster: values to merge over those of a base. */
export function exportedReleases(manifest: Manifest, text: string): EngineRelease[] {
  const {values} = manifest;
  const [, incomplete, version = ''] = INCOMPLETE.exec(text) ?? [];
  if (isChart(incomplete)) {
    const origins = [{inline: []}, {unread: 'the values of each cluster'}];
    return [releaseOf({kind: 'fleet', chart: incomplete, version, origins})];
  }
  const chart = textAt(values, 'chart');
  const of = {chart, version: textAt(values, 'version')};
  if (isMap(values['override']) && isChart(chart)) {
    const base = `../../base/${chart}-${of.version}.yaml`;
    return [releaseOf({...of, kind: 'ApplicationSet', origins: over(base, ['override'], values)})];
  }
  if (values['objects'] !== undefined && isChart(chart)) {
    const base = `../base/${chart}-${of.version}.yaml`;
    return [
      releaseOf({...of, kind: 'helmfile environment', origins: over(base, ['values'], values)}),
    ];
  }
  return overlayOf(manifest, text);
}

const releaseOf = ({kind, chart, version, origins}: ExportedRelease): EngineRelease => ({
  kind,
  reference: chart,
  chartAt: [],
  version,
  versionAt: [],
  origins,
  place: '',
});

interface ExportedRelease {
  kind: string;
  chart: string;
  version: string;
  origins: readonly ValuesOrigin[];
}

const over = (file: string, inline: TreePath, values: Values): ValuesOrigin[] => [
  {file},
  ...(isMap(values[inline[0] as string]) ? [{inline}] : []),
];

/** A Kustomization of Flux: a base, and a JSON Patch of its values. */
function overlayOf(manifest: Manifest, text: string): EngineRelease[] {
  const resources = itemsAt(manifest.values, 'resources').map(String);
  const base = resources.find((each) => BASE.test(each)) ?? '';
  const [, chart = '', version = ''] = BASE.exec(base) ?? [];
  if (!isChart(chart)) return [];
  const origins = [{file: `${base}/values.yaml`}, ...patchesOf(manifest, text)];
  return [releaseOf({kind: 'Kustomization', chart, version, origins})];
}

const patchesOf = (manifest: Manifest, text: string): ValuesOrigin[] =>
  itemsAt(manifest.values, 'patches').flatMap((_, index): ValuesOrigin[] => {
    const inPlace = textInPlace(manifest.node(['patches', index, 'patch']), normalized(text));
    const [patch] = inPlace === undefined ? [] : readManifests(inPlace).manifests;
    const operations: Tree[] = Array.isArray(patch?.tree) ? patch.tree : [];
    const place = operations.findIndex((each) => isMap(each) && each['path'] === '/spec/values');
    return patch && place >= 0 ? [{read: patch.valuesAt([place, 'value'])}] : [];
  });
