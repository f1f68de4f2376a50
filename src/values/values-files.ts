import {targetOf} from '../charts/target.ts';
import {ExpectedError} from '../ground/errors.ts';
import type {ValuesFile} from '../settings/escape-hatch.ts';
import {chart, chartVersion} from '../settings/release.ts';
import type {Settings} from '../settings/settings.ts';
import {writtenSettings} from './read-values.ts';
import {guessChart} from './validate/check-files.ts';
import {readLayers} from './validate/source.ts';

/** An answer, and its origin if that is not the file itself. */
interface FoundAnswer {
  value: unknown;
  because?: string | undefined;
}

/**
 * The settings in the files of --values-file, by id, and the chart they are for. `named` holds the chart and the version
 * of other sources. @throws ExpectedError
 */
export function settingsInFiles(files: readonly ValuesFile[], named: Settings): Map<string, FoundAnswer> {
  const values = readLayers(files);
  const {name, version, source: because} = guessChart({files, areLayers: true}, named);
  if (name === undefined) {
    const names = files.map(({file}) => file).join(', ');
    throw refusal(`Cannot tell which chart ${names} is for.`, ['Add --chart agent-k8s, agent-local or agent-job']);
  }
  const known = version === undefined ? named : named.with(chartVersion, {value: version, source: 'values-file'});
  const {target} = targetOf(known, () => name);
  return new Map<string, FoundAnswer>([
    ...[...writtenSettings(values, target)].map(([id, value]): [string, FoundAnswer] => [id, {value}]),
    [chart.id, {value: name, because}],
    ...(version === undefined ? [] : [[chartVersion.id, {value: version, because}] as const]),
  ]);
}

const refusal = (message: string, suggestions: readonly string[]): ExpectedError =>
  new ExpectedError(message, {code: 'INVALID_SETTING', suggestions});
