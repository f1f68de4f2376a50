import type {Values} from '../charts/tree.ts';
import {objectsIn} from '../cluster/manifest.ts';
import type {KubernetesObject} from '../cluster/objects.ts';
import {releaseHistory, releaseManifest, releaseValues} from '../helm/helm.ts';
import type {Place} from '../ports/place.ts';
import type {Call} from '../ports/processes.ts';
import {isFields} from './fields.ts';
import {type HideIn, jsonText, objectFiles, type TextFile} from './object-files.ts';
import type {Gap} from './read-namespace.ts';
import {type Answer, isListOf, readJson} from './tool-json.ts';
import {type Tools, toolGap} from './tools.ts';

interface Asked<T> {
  /** Undefined where there is a gap. */
  value?: T;
  gaps: readonly Gap[];
}

interface Read {
  files(hideIn: HideIn): readonly TextFile[];
  gaps: readonly Gap[];
  /** What was given to helm. */
  values: Values | undefined;
}

/** What helm knows of a release: its history, the values given and the objects it made, without their Secrets. */
export async function readRelease(release: string, place: Place, tools: Tools, over: AbortSignal): Promise<Read> {
  const folder = `releases/${release}`;
  const name = {release, place};
  const ask = async <T>(file: string, call: Call, read: (text: string) => Answer<T>): Promise<Asked<T>> => {
    const outcome = await tools.run(call);
    if (outcome.exitCode !== 0) return {gaps: [toolGap(`${folder}/${file}`, outcome, over)]};
    const {trouble, ...answer} = read(outcome.stdout);
    return trouble ? {gaps: [{what: `${folder}/${file}`, trouble}]} : {...answer, gaps: []};
  };
  const [history, values, manifest] = await Promise.all([
    ask('history.json', releaseHistory(name), (text) => readJson('helm', text, isListOf())),
    ask('values.json', releaseValues(name), (text) => readJson('helm', text || '{}', isGiven)),
    ask('manifest', releaseManifest(name), readObjects),
  ]);
  return {
    files: (hideIn) => [
      ...('value' in history ? [{name: `${folder}/history.json`, text: jsonText(history.value)}] : []),
      ...('value' in values ? [{name: `${folder}/values.json`, text: jsonText(values.value ?? {})}] : []),
      ...objectFiles(manifest.value ?? [], hideIn, (file) => file.replace(/^objects/, `${folder}/manifest`)),
    ],
    gaps: [history, values, manifest].flatMap(({gaps}) => gaps),
    values: values.value ?? undefined,
  };
}

/** Helm prints null where nothing was given. */
const isGiven = (value: unknown): value is Values | null => value === null || isFields(value);

function readObjects(text: string): Answer<KubernetesObject[]> {
  try {
    const objects = objectsIn(text);
    if (objects.every(({metadata}) => typeof metadata?.name === 'string')) return {value: objects};
  } catch {
    // An alias without an anchor, or more of them than anybody would write.
  }
  return {trouble: {kind: 'refused', message: 'what helm said is no manifest'}};
}
