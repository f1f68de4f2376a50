import {resolveAnswers} from '../../src/answers/resolve.ts';
import {fromFlags} from '../../src/answers/sources.ts';
import type {Setting} from '../../src/settings/define.ts';
import type {Settings} from '../../src/settings/settings.ts';
import {memoryFiles} from './memory-files.ts';

/** Current time in tests; the certificates of test/support/certificates are valid then. */
export const TODAY = new Date('2027-01-01T00:00:00Z');

export type RawFlags = Readonly<Record<string, string | readonly string[] | boolean>>;

/** Settings from flags, with the files that they reference. */
export const settingsFrom = (
  flags: RawFlags,
  files: Readonly<Record<string, string | Buffer>> = {},
  optional: readonly Setting[] = [],
): Promise<Settings> =>
  resolveAnswers([fromFlags(flags)], {files: memoryFiles(files), now: TODAY}, {optional});
