import {createHash} from 'node:crypto';
import {parse} from 'yaml';
import {ExpectedError, failed} from '../ground/errors.ts';
import {closest} from '../ground/similar-text.ts';
import {isMap, mergeValues, type Tree} from '../ground/tree.ts';
import {parseAnswers} from './answers-file.ts';
import type {SettingsSource} from './sources.ts';

/** Clusters that are upgraded together. */
export interface Ring {
  name: string;
  /** Members by name. */
  clusters: readonly string[];
  /** Percentage of the remaining clusters; without both, all of them. */
  percent?: number;
  /** Answers of all members. */
  answers: ReadonlyMap<string, unknown>;
}

/** The answers of one cluster. */
export interface OverlayFile {
  name: string;
  path: string;
  /** Kubeconfig context. */
  context: string;
  answers: ReadonlyMap<string, unknown>;
}

export const RINGS_FILE = 'rings.yaml';
const CONTEXT = 'kube-context';
const ALL: Ring = {name: 'all', clusters: [], answers: new Map()};

/** Reads rings.yaml: a list of rings in the order of upgrades. @throws ExpectedError */
export function parseRings(text: string, path: string): Ring[] {
  let list: unknown;
  try {
    list = parse(text);
  } catch (error) {
    throw wrong(path, (error as Error).message.split('\n')[0] as string);
  }
  if (!Array.isArray(list) || !list.every(isMap)) throw wrong(path, 'expected a list of rings');
  const rings = list.map((ring, index): Ring => {
    const {name, clusters = [], percent, answers = {}, ...others} = ring as Record<string, Tree>;
    const isNamed = typeof name === 'string' && /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(name);
    const isPart =
      percent === undefined || (typeof percent === 'number' && percent >= 1 && percent <= 100);
    if (!isNamed || !isPart || !Array.isArray(clusters) || Object.keys(others).length > 0)
      throw wrong(
        path,
        `ring ${index + 1} is not a name with clusters (a list), percent (1 to 100) or answers`,
      );
    const own = parseAnswers(JSON.stringify(answers), `${path}, ring ${name}`);
    return {
      name,
      clusters: clusters.map(String),
      ...(percent === undefined ? {} : {percent: percent as number}),
      answers: own,
    };
  });
  const twice = rings.find(
    ({name}, index) => rings.findIndex((each) => each.name === name) !== index,
  );
  if (twice) throw wrong(path, `ring ${twice.name} is listed twice`);
  return rings.some(isRest) ? rings : [...rings, ALL];
}

const isRest = ({clusters, percent}: Ring): boolean =>
  clusters.length === 0 && percent === undefined;

const wrong = (path: string, message: string): ExpectedError =>
  new ExpectedError(`${path}: ${message}.`, {
    code: 'INVALID_ANSWERS_FILE',
    suggestions: ['Example of a list item: {name: canary, clusters: [eu-1]}'],
  });

/** Checks that each member is a cluster, and of one ring only. @throws ExpectedError */
export function checkMembers(
  rings: readonly Ring[],
  clusters: readonly string[],
  path: string,
): void {
  const members = [...new Set(rings.flatMap((ring) => ring.clusters))];
  const problems = members.flatMap((member) => {
    const [ring = '', ...others] = rings
      .filter((each) => each.clusters.includes(member))
      .map(({name}) => name);
    const several = {
      message: `${path}: ${member} is in the rings ${[ring, ...others].join(' and ')}.`,
      step: `List ${member} in one ring only`,
    };
    const near = closest(member, clusters);
    const unknown = {
      message: `${path}: ring ${ring} lists ${member}, but this cluster has no file.`,
      step: near
        ? `Did you mean ${near} instead of ${member}?`
        : `Write ${path.replace(RINGS_FILE, `${member}.yaml`)}, or remove ${member} from the ring`,
    };
    return [
      ...(clusters.includes(member) ? [] : [unknown]),
      ...(others.length > 0 ? [several] : []),
    ];
  });
  if (problems.length === 0) return;
  throw failed(
    'INVALID_ANSWERS_FILE',
    problems.map(({message}) => message).join('\n'),
    problems.map(({step}) => step),
  );
}

/** The ring of a cluster: the one that lists it, else a part by the hash of its name, so that a new cluster moves no other one. */
export function ringOf(cluster: string, rings: readonly Ring[]): Ring {
  const listed = rings.find(({clusters}) => clusters.includes(cluster));
  if (listed) return listed;
  const part = createHash('sha256').update(cluster).digest().readUInt32BE() % 100;
  let end = 0;
  const byPart = rings.find(({percent = 0}) => {
    end += percent;
    return part < end;
  });
  return byPart ?? rings.find(isRest) ?? ALL;
}

/** Reads the file of one cluster. @throws ExpectedError */
export function parseOverlay(text: string, path: string, name: string): OverlayFile {
  const answers = new Map(parseAnswers(text, path, [CONTEXT]));
  const context = answers.get(CONTEXT);
  answers.delete(CONTEXT);
  return {name, path, answers, context: context === undefined ? name : String(context)};
}

/** Sources with the answers merged over those of the answers file: maps merge, the last one wins, lists are replaced. */
export function withOverlays(
  sources: readonly SettingsSource[],
  overlays: readonly ReadonlyMap<string, unknown>[],
): SettingsSource[] {
  const at = sources.findIndex(({name}) => name === 'answers');
  const base = sources[at];
  const merged: SettingsSource = {
    name: 'answers',
    answer: (setting) =>
      [base?.answer(setting), ...overlays.map((each) => each.get(setting.id))].reduce(
        (below, above) => {
          if (above === undefined) return below;
          return isMap(below) && isMap(above) ? mergeValues(below, above) : above;
        },
      ),
  };
  const before = sources.filter(({name}) => name === 'flag' || name === 'environment');
  return [...before, merged, ...sources.filter((each) => !before.includes(each) && each !== base)];
}
