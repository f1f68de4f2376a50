import {ExpectedError} from '../../ground/errors.ts';
import {type Fields, isFields, jsonText, readJson} from '../../ground/json.ts';
import type {ApiReader} from '../../kubernetes/client.ts';
import type {Files} from '../../ports/files.ts';
import type {HostCall, HostTools} from '../../ports/processes.ts';
import type {LogItem, Since} from './log-items.ts';
import type {TextFile} from './object-files.ts';
import type {PreparedBundle} from './prepare.ts';
import type {Gap} from './read-namespace.ts';

export interface HostBundleOptions {
  since: Since;
  now: Date;
}

export interface HostDeps {
  host: HostTools;
  files: Pick<Files, 'read'>;
  signal: AbortSignal;
}

/** Data of an agent on this machine, before anything is written. */
export interface HostPrepared extends PreparedBundle {
  /** Used in the file name. */
  name: string;
  /** Reads logs by their source name instead of an API path. */
  api: Pick<ApiReader, 'stream'>;
}

/** One log of this machine; `path` is its name in the source. */
export const hostLog = (source: 'docker' | 'journal', name: string): LogItem => ({
  file: `logs/${source}/${name}.log`,
  pod: source,
  container: name,
  isPrevious: false,
  path: name,
});

interface TextCall {
  name: string;
  call: HostCall;
  /** Expected shape of a JSON result. */
  shape?(value: Fields): Fields;
}

/** Results of small calls, one file each; failures are gaps. */
export async function readCommandTexts(calls: readonly TextCall[], {host, signal}: HostDeps): Promise<{texts: TextFile[]; gaps: Gap[]}> {
  const read = await Promise.all(
    calls.map(async ({name, call, shape}) => {
      const {stdout, error} = await host.run(call, {signal});
      const answer = shape && readJson(call.tool, stdout, isFields);
      // A failed tool may have printed output before.
      const failed = error ?? answer?.error;
      const text = answer === undefined ? stdout : answer.error ? '' : jsonText(shape?.(answer.value));
      return {texts: text === '' ? [] : [{name, text}], gaps: failed ? [{what: name, error: failed}] : []};
    }),
  );
  return {texts: read.flatMap(({texts}) => texts), gaps: read.flatMap(({gaps}) => gaps)};
}

/** Operating system of the machine. */
export async function readSystem({files}: Pick<HostDeps, 'files'>): Promise<TextFile[]> {
  try {
    return [{name: 'host/os-release.txt', text: (await files.read('/etc/os-release')).toString('utf8')}];
  } catch (error) {
    // Not available on every system.
    if (error instanceof ExpectedError) return [];
    throw error;
  }
}
