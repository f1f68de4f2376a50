import {basename} from 'node:path';
import type {ChartName} from '../../charts/releases/chart-name.ts';
import {isChart} from '../../charts/releases/chart-name.ts';
import {isMap, itemsAt, textAt, type Values} from '../../ground/tree.ts';
import type {ValuesFile} from '../../settings/chart-values.ts';
import {readManifests} from '../reading/manifests.ts';
import type {ValuesReading} from '../reading/source.ts';
import type {FileGroup} from '../validate/file-group.ts';
import type {FileSet} from './file-set.ts';
import {type ReleaseVersion, releaseVersion, versionIn} from './release-version.ts';

/** A chart of ours below a parent chart. */
interface Dependency extends ReleaseVersion {
  chart: ChartName;
  /** The key of its values. */
  section: string;
  /** The key in the section with which the parent chart switches it on; it is no value of the chart. */
  toggle: string | undefined;
}

/** The sections of a values file that belong to dependencies of the chart beside it, for Chart.yaml those of its values.yaml. */
export async function dependencyGroups(given: ValuesFile, files: FileSet): Promise<FileGroup[]> {
  const isParent = basename(given.file) === 'Chart.yaml';
  const parent = isParent ? given : await files.beside(given.file, 'Chart.yaml');
  if (parent === undefined) return [];
  const values = isParent ? await files.beside(given.file, 'values.yaml') : given;
  const [manifest] = values ? files.manifestsOf(values).manifests : [];
  return dependenciesIn(parent.text).flatMap((dependency) => {
    const {section, chart, toggle} = dependency;
    if (values === undefined || !isMap(manifest?.values[section])) return [];
    return [
      {
        files: [{...values, read: withoutKey(manifest.valuesAt([section]), toggle)}],
        areLayers: true,
        release: {
          kind: `dependency ${section}`,
          chart,
          ...versionIn(given.file, dependency),
          unread: ['values files of the parent chart'],
          around: [],
        },
      },
    ];
  });
}

/** What a Chart.yaml says. */
export function dependenciesIn(text: string): Dependency[] {
  const [chart] = readManifests(text).manifests;
  return itemsAt(chart?.values ?? {}, 'dependencies').flatMap((each): Dependency[] => {
    const dependency: Values = isMap(each) ? each : {};
    const name = textAt(dependency, 'name');
    if (!isChart(name)) return [];
    const section = textAt(dependency, 'alias') || name;
    const toggle = textAt(dependency, 'condition')
      .split(',')
      .map((path) => path.trim())
      .find((path) => path.startsWith(`${section}.`))
      ?.slice(section.length + 1);
    return [{section, chart: name, toggle, ...releaseVersion(name, textAt(dependency, 'version'))}];
  });
}

function withoutKey(read: ValuesReading, key: string | undefined): ValuesReading {
  if (key === undefined || read.source === undefined) return read;
  const {[key]: _, ...values} = read.source.values;
  return {...read, source: {...read.source, values}};
}
