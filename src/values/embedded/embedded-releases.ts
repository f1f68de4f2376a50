import {isMap, type ParsedNode} from 'yaml';
import {isChart} from '../../charts/releases/chart-name.ts';
import {parseYaml} from '../reading/source.ts';
import {scalarEdit} from '../text-edits.ts';
import type {EmbeddedRelease} from './embedded-release.ts';
import {ENGINES, type EngineFormat} from './engines.ts';
import {collisions, fleetProblems} from './fleet-problems.ts';
import {type InlineValues, inlineValues} from './inline-values.ts';
import {listItems, nodeIn, scalarText} from './nodes.ts';
import {refuseSource, refuseTemplates} from './refuse-source.ts';

/** The releases of our charts in a file of Argo CD, Flux, Helmfile or the Helm controller of K3s. @throws ExpectedError */
export function embeddedReleases(file: string, text: string): EmbeddedRelease[] {
  refuseSource(file, text);
  if (!/\bagent-(?:k8s|local|job)\b/.test(text)) return [];
  const documents = parseYaml(text);
  if (documents.some(({errors}) => errors.length > 0)) return [];
  const roots = documents.map(({contents}) => contents as unknown);
  const isScaled = roots.some((root) => AUTOSCALER.test(scalarText(nodeIn(root, 'kind')) ?? ''));
  const releases = roots.flatMap((root) => releasesIn({root, isScaled, text}));
  for (const {values = ''} of releases) refuseTemplates(file, values);
  return withCollisions(releases);
}

const AUTOSCALER = /^(HorizontalPodAutoscaler|ScaledObject)$/;

/** One document of a file. */
interface EngineDocument {
  root: unknown;
  /** The file has an autoscaler too. */
  isScaled: boolean;
  text: string;
}

function releasesIn(document: EngineDocument): EmbeddedRelease[] {
  const {root} = document;
  const kind = scalarText(nodeIn(root, 'kind')) || 'helmfile';
  const engine = ENGINES.get(kind);
  return (engine?.releases(root) ?? []).flatMap((node) =>
    releaseIn(node, kind, engine as EngineFormat, document),
  );
}

function withCollisions(releases: readonly EmbeddedRelease[]): EmbeddedRelease[] {
  const clashes = collisions(releases);
  return releases.map((each) => ({
    ...each,
    problems: [...each.problems, ...clashes.filter(({offset}) => offset === each.offset)],
  }));
}

function releaseIn(
  node: unknown,
  kind: string,
  engine: EngineFormat,
  {root, isScaled, text}: EngineDocument,
): EmbeddedRelease[] {
  const chartNode = nodeIn(node, engine.chart);
  const versionNode = nodeIn(node, engine.version);
  // Helmfile writes the repository before the name.
  const reference = scalarText(chartNode) ?? '';
  const chart = reference.split('/').at(-1);
  if (!isChart(chart)) return [];
  const version = scalarText(versionNode);
  const offset = (((versionNode ?? chartNode) as ParsedNode).range ?? [0])[0];
  const place = placeOf(node, root, engine);
  const {inline, ...sources} = valuesOf(node, engine, text);
  const problems = fleetProblems(
    {chart, version, offset, place},
    {
      definitions: engine.lacksDefinitions?.(root, node),
      ignored: isScaled && engine.lacksIgnored?.(root),
    },
  );
  return [
    {
      ...sources,
      kind,
      chart,
      version,
      place,
      offset,
      values: inline?.values,
      inPlace: inline?.inPlace,
      problems,
      edits(to, values) {
        const repository = reference.slice(0, -chart.length);
        const isChanged = values !== undefined && values !== inline?.values;
        return [
          to.chart === chart ? undefined : scalarEdit(text, chartNode, repository + to.chart),
          to.version === version ? undefined : scalarEdit(text, versionNode, to.version),
          isChanged ? inline?.edit(values) : undefined,
        ].filter((each) => each !== undefined);
      },
    },
  ];
}

const placeOf = (node: unknown, root: unknown, {place}: EngineFormat): string =>
  place.flatMap((path) => scalarText(nodeIn(root, path) ?? nodeIn(node, path)) ?? []).join('/');

/** Where the values of a release come from. */
interface ReleaseValues extends Pick<EmbeddedRelease, 'files' | 'hasOtherValues' | 'parameters'> {
  inline: InlineValues | undefined;
}

function valuesOf(release: unknown, engine: EngineFormat, text: string): ReleaseValues {
  const values = engine.values.map((path) => nodeIn(release, path));
  // Helmfile lists values together with the names of files.
  const listed = values.flatMap(listItems);
  const maps = [
    ...values.filter((each) => scalarText(each) !== undefined || isMap(each)),
    ...listed.filter((each) => isMap(each)),
  ];
  const inline = maps[0];
  const named = [
    ...listed.filter((each) => !isMap(each)),
    ...listItems(nodeIn(release, engine.files ?? '')),
  ];
  const others = [...named, ...engine.others.map((path) => nodeIn(release, path))];
  return {
    inline: inline === undefined ? undefined : inlineValues(inline as ParsedNode, text),
    files: named.flatMap((each) => scalarText(each) ?? []),
    hasOtherValues: maps.length > 1 || others.some((each) => each !== undefined),
    parameters: engine.parameters === undefined ? [] : namesOf(nodeIn(release, engine.parameters)),
  };
}

const namesOf = (node: unknown): string[] => [
  ...listItems(node).flatMap((item) => scalarText(nodeIn(item, 'name')) ?? []),
  ...(isMap(node) ? node.items.flatMap(({key}) => scalarText(key) ?? []) : []),
];
