import {digestOf, floorOf} from '../../charts/charts.ts';
import {agentVersionOf} from '../../charts/releases/schema.ts';
import type {Target} from '../../charts/releases/target.ts';
import {scopeOf} from '../../charts/support.ts';
import {ExpectedError} from '../../ground/errors.ts';
import {isMap, sameTree, type Tree, type Values} from '../../ground/tree.ts';
import {tokenSecret, tokenSecretKey} from '../../settings/agent.ts';
import {gracePeriod} from '../../settings/lifecycle.ts';
import {chart, chartVersion, namespace, release} from '../../settings/release.ts';
import type {Settings} from '../../settings/settings.ts';
import {documentBelow, toYaml} from '../../values/document.ts';
import {type GeneratedValues, generate} from '../../values/generate.ts';
import {errorsIn} from '../../values/validate/validate.ts';
import type {ExportedFile} from '../machine/files.ts';
import {textFile} from './manifests.ts';

/** How the token gets into the Secret that the chart reads. */
export type TokenSource = 'existing' | 'external-secrets' | 'sops' | 'sealed-secrets';

/** One cluster of a fleet, as its answers say. */
export interface FleetCluster {
  name: string;
  /** Kubeconfig context, for tools that need one. */
  context: string | undefined;
  /** Clusters of one ring are upgraded together. */
  ring: string;
  generated: GeneratedValues;
}

/** The clusters, and the choices for all of them. */
export interface Fleet {
  clusters: readonly FleetCluster[];
  /** In the order of upgrades. */
  rings: readonly string[];
  /** Answers that all clusters share; required ones may be missing. */
  shared: Settings;
  /** The clusters are files of --overlay. */
  isOverlay: boolean;
  /** The directory of these files, for the README. */
  overlay?: string | undefined;
  /** The answers file, for the README. */
  answers?: string | undefined;
  token: TokenSource;
  /** External Secrets: the store, KIND/NAME or the name of a ClusterSecretStore. */
  store?: string | undefined;
  /** An autoscaler owns the number of agents. */
  isAutoscaled: boolean;
  /** The Git repository of the files, and their directory in it: empty, or with a slash at the end. */
  git?: {url: string; directory: string} | undefined;
  /** Writes the same files again, to DIRECTORY. */
  command: string;
  /** Writes the files of several clusters there, after an export for one. */
  overlayCommand: string;
}

/** What the files of engines contain about one cluster. */
export interface FleetMember {
  name: string;
  context: string | undefined;
  ring: string;
  release: string;
  namespace: string;
  secret: {name: string; key: string};
  target: Target;
  /** Name and text of the values that it shares with clusters of the same chart version. */
  base: string;
  baseText: string;
  /** All values, and what to merge into those of the base. */
  values: Values;
  override: Values;
  /** Enough for pods to finish their runs, and to pull images. */
  timeoutSeconds: number;
  header: readonly string[];
}

/** The clusters as the files need them. */
export interface PreparedFleet {
  engine: string;
  /** The first lines of files for all clusters. */
  header: readonly string[];
  members: readonly FleetMember[];
  /** A file with the shared values of each chart version. */
  bases: readonly ExportedFile[];
}

/** A tool that installs charts from files. */
export interface Engine {
  /** Text of templates/export. */
  readme: string;
  /** Name of the only cluster without --overlay. */
  cluster: string;
  files(fleet: Fleet, prepared: PreparedFleet): ExportedFile[];
  /** Path of the encrypted token of a cluster. */
  tokenFile(fleet: Fleet, cluster: string): string;
  /** Shell lines that install the agent of a cluster, or say how. */
  start(member: FleetMember, fleet: Fleet): string[];
  tokens: readonly TokenSource[];
}

const IMAGE_PULL_SECONDS = 600;

export function prepareFleet(fleet: Fleet, engine: string): PreparedFleet {
  const header = headerOf(fleet, engine);
  const bases = new Map<string, {values: Values; text: string}>();
  const members = fleet.clusters.map(({generated, name, context, ring}): FleetMember => {
    const {target, settings, effective, values} = generated;
    const base = `${target.chart}-${target.version}`;
    const shared =
      bases.get(base) ??
      (fleet.isOverlay
        ? sharedValues(fleet, target, header)
        : {values, text: baseDocument(generated, header)});
    bases.set(base, shared);
    const grace = effective.get(gracePeriod.id);
    return {
      name,
      context,
      ring,
      target,
      base,
      baseText: shared.text,
      values,
      release: settings.get(release) as string,
      namespace: settings.get(namespace) as string,
      secret: {
        name: settings.get(tokenSecret) as string,
        key: settings.get(tokenSecretKey) as string,
      },
      override: overrideOf(shared.values, values, scopeOf(target).defaults),
      timeoutSeconds: (typeof grace === 'number' ? grace : 0) + IMAGE_PULL_SECONDS,
      header: [...header, chartLine(target)],
    };
  });
  const files = [...bases].map(([name, {text}]) => textFile(`base/${name}.yaml`, text));
  return {engine, header, members, bases: files};
}

const baseDocument = (generated: GeneratedValues, header: readonly string[]): string =>
  documentBelow(generated, [...header, chartLine(generated.target)], 'see README.md, Bootstrap');

/** Which command writes a file. */
const headerOf = ({command}: Fleet, engine: string): string[] => [
  `Generated by scalr-agent export ${engine}; do not edit. Change the answers, and run again (DIRECTORY contains README.md):`,
  `  ${command}`,
];

function chartLine(target: Target): string {
  const agent = agentVersionOf(target) ?? 'version unknown';
  const digest = digestOf(target.chart, target.version);
  return `Chart ${target.chart} ${target.version} (${digest === undefined ? '' : `chart package sha256:${digest}; `}agent ${agent}). Requires Kubernetes ${floorOf(target)?.version ?? '1.29'} or newer.`;
}

/** The values of the shared answers alone, which do not depend on the list of clusters. */
function sharedValues(
  {shared}: Fleet,
  target: Target,
  header: readonly string[],
): {values: Values; text: string} {
  const settings = shared
    .with(chart, {value: target.chart, source: 'answers'})
    .with(chartVersion, {value: target.version, source: 'answers'});
  let values: Values = {};
  try {
    const generated = generate(settings);
    values = generated.values;
    if (errorsIn(values, target).length === 0)
      return {values, text: baseDocument(generated, header)};
  } catch (error) {
    if (!(error instanceof ExpectedError)) throw error;
  }
  // The shared answers are incomplete, or not for this chart.
  const incomplete = `Values of ${target.chart} ${target.version}: each cluster adds its own.`;
  return {values, text: toYaml(values, {header: [...header, incomplete]})};
}

/** What to merge into the base, as Helm merges, for the effect of the desired values. Keys that only the base has get the chart default. */
export function overrideOf(base: Values, desired: Values, defaults: Values): Values {
  const override: Values = {};
  for (const key of new Set([...Object.keys(base), ...Object.keys(desired)])) {
    const [before, after, byDefault] = [base[key], desired[key], defaults[key]] as (
      | Tree
      | undefined
    )[];
    if (
      isMap(before) &&
      (isMap(after) || (after === undefined && (byDefault === undefined || isMap(byDefault))))
    ) {
      const below = overrideOf(
        before,
        isMap(after) ? after : {},
        isMap(byDefault) ? byDefault : {},
      );
      if (Object.keys(below).length > 0) override[key] = below;
    } else if (after === undefined) override[key] = byDefault ?? null;
    else if (!sameTree(before, after)) override[key] = after;
  }
  return override;
}
