import type {Values} from '../charts/tree.ts';
import {objectsIn} from '../cluster/manifest.ts';
import {releaseHistory, releaseManifest, releaseValues} from '../ports/helm.ts';
import type {Place} from '../ports/place.ts';
import type {Call} from '../ports/processes.ts';
import {type HideIn, jsonText, objectFiles, type TextFile} from './object-files.ts';
import type {Gap} from './read-namespace.ts';
import {type Tools, toolGap} from './tools.ts';

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
  const ask = async (file: string, call: Call): Promise<{text: string} | Gap> => {
    const outcome = await tools.run(call);
    return outcome.exitCode === 0 ? {text: outcome.stdout} : toolGap(`${folder}/${file}`, outcome, over);
  };
  const [history, values, manifest] = await Promise.all([
    ask('history.json', releaseHistory(name)),
    ask('values.json', releaseValues(name)),
    ask('manifest', releaseManifest(name)),
  ]);
  const given = 'text' in values ? (JSON.parse(values.text || '{}') as Values | null) : undefined;
  const made = 'text' in manifest ? objectsIn(manifest.text) : [];
  return {
    files: (hideIn) => [
      ...('text' in history ? [{name: `${folder}/history.json`, text: jsonText(JSON.parse(history.text))}] : []),
      ...(given === undefined ? [] : [{name: `${folder}/values.json`, text: jsonText(given ?? {})}]),
      ...objectFiles(made, hideIn, (file) => file.replace(/^objects/, `${folder}/manifest`)),
    ],
    gaps: [history, values, manifest].filter((each): each is Gap => 'what' in each),
    values: given ?? undefined,
  };
}
