import {dirname, join} from 'node:path';
import {textAt} from '../../ground/tree.ts';
import type {ValuesFile} from '../../settings/chart-values.ts';
import {type Manifest, readManifests} from '../reading/manifests.ts';
import type {ObjectReference} from './engines.ts';

/** Reads a file that was not given; undefined if that is not possible. */
export type ReadOther = (path: string) => Promise<string | undefined>;

/** The files of one run, which can refer to each other. */
export class FileSet {
  readonly #files: readonly ValuesFile[];
  readonly #readOther: ReadOther;
  /** A chart of ours is in an object of its own, to which releases refer. */
  readonly hasChartObjects: boolean;
  readonly #manifests = new Map<ValuesFile, ReturnType<typeof readManifests>>();

  constructor(files: readonly ValuesFile[], readOther: ReadOther) {
    this.#files = files;
    this.#readOther = readOther;
    this.hasChartObjects = files.some(
      ({text}) =>
        /agent-(?:k8s|local|job)/.test(text) && /kind: (?:OCIRepository|HelmChart)/.test(text),
    );
  }

  /** The YAML documents of a file, read once. */
  manifestsOf(given: ValuesFile): ReturnType<typeof readManifests> {
    const known = this.#manifests.get(given) ?? readManifests(given.text);
    this.#manifests.set(given, known);
    return known;
  }

  /** An object in one of the files. */
  find({
    kind,
    name,
    namespace,
  }: ObjectReference): {given: ValuesFile; manifest: Manifest} | undefined {
    if (name === '') return undefined;
    for (const given of this.#files) {
      if (!given.text.includes(name) || !given.text.includes(kind)) continue;
      const manifest = this.manifestsOf(given).manifests.find(
        ({values}) =>
          values['kind'] === kind &&
          textAt(values, 'metadata.name') === name &&
          ['', namespace].includes(textAt(values, 'metadata.namespace') || namespace),
      );
      if (manifest) return {given, manifest};
    }
    return undefined;
  }

  /** A file at a path that another file names. */
  async beside(file: string, path: string): Promise<ValuesFile | undefined> {
    const place = join(dirname(file), path);
    const given = this.#files.find((each) => join(each.file) === place);
    if (given) return given;
    const text = await this.#readOther(place);
    return text === undefined ? undefined : {file: place, text};
  }
}
