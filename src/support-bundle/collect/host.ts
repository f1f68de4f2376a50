import {type ErrorCode, ExitCode, ExpectedError} from '../../errors.ts';
import type {ApiReader} from '../../kubernetes/client.ts';
import type {Files} from '../../ports/files.ts';
import type {HostCall, HostTools, HostTrouble} from '../../ports/host-tools.ts';
import {type Fields, isFields, jsonText, readJson} from '../json.ts';
import type {LogItem, Since} from './log-items.ts';
import type {TextFile} from './object-files.ts';
import type {Prepared} from './prepare.ts';
import type {Gap} from './read-namespace.ts';

export interface HostOptions {
  since: Since;
  now: Date;
}

export interface HostDeps {
  host: HostTools;
  files: Pick<Files, 'read'>;
  over: AbortSignal;
}

/** What is known of an agent on this machine before the first byte is written. */
export interface HostPrepared extends Prepared {
  /** For the name of the file. */
  name: string;
  /** Reads the logs, which name what they are of instead of a path of the API server. */
  api: Pick<ApiReader, 'stream'>;
}

/** One log of this machine; `path` is what its source calls it. */
export const hostLog = (source: 'docker' | 'journal', name: string): LogItem => ({
  file: `logs/${source}/${name}.log`,
  pod: source,
  container: name,
  isPrevious: false,
  path: name,
});

interface SmallCall {
  name: string;
  call: HostCall;
  /** What is wanted of an answer in JSON. */
  shape?(value: Fields): Fields;
}

/** The answers of small calls, each in a file; what failed is a gap. */
export async function readTexts(calls: readonly SmallCall[], {host, over}: HostDeps): Promise<{texts: TextFile[]; gaps: Gap[]}> {
  const read = await Promise.all(
    calls.map(async ({name, call, shape}) => {
      const {stdout, trouble} = await host.run(call, {over});
      const answer = shape && readJson(call.tool, stdout, isFields);
      // A tool that failed may have said something before.
      const failed = trouble ?? answer?.trouble;
      const text = answer === undefined ? stdout : answer.trouble ? '' : jsonText(shape?.(answer.value));
      return {texts: text === '' ? [] : [{name, text}], gaps: failed ? [{what: name, trouble: failed}] : []};
    }),
  );
  return {texts: read.flatMap(({texts}) => texts), gaps: read.flatMap(({gaps}) => gaps)};
}

/** Which system it is. */
export async function readSystem({files}: Pick<HostDeps, 'files'>): Promise<TextFile[]> {
  try {
    return [{name: 'host/os-release.txt', text: (await files.read('/etc/os-release')).toString('utf8')}];
  } catch (error) {
    // Not every system has it.
    if (error instanceof ExpectedError) return [];
    throw error;
  }
}

const CODES: Readonly<Partial<Record<HostTrouble['kind'], ErrorCode>>> = {
  'not-found': 'AGENT_NOT_FOUND',
  forbidden: 'FORBIDDEN',
  over: 'TIMED_OUT',
};

/** Without this call there is nothing to collect. */
export function refusal(what: string, {kind, message, isToolMissing}: HostTrouble, suggestions: readonly string[]): ExpectedError {
  const code = isToolMissing ? 'TOOL_NOT_FOUND' : (CODES[kind] ?? 'TOOL_FAILED');
  const exit = isToolMissing ? ExitCode.usage : code === 'TIMED_OUT' ? ExitCode.timedOut : ExitCode.failed;
  return new ExpectedError(`${what}: ${message}.`, {code, exit, suggestions});
}
