import type {Drift} from '../cluster/drift.ts';
import {ExpectedError} from '../errors.ts';
import {toYaml} from '../values/yaml.ts';
import {diffText} from './diff.ts';
import type {Screen} from './theme.ts';

/** From what is installed to what is wanted, as `diff -u` shows it. */
export async function driftText(drift: Drift | undefined, screen: Screen): Promise<string> {
  if (drift === undefined || drift.differences.length === 0) return '';
  try {
    return await diffText('values.yaml', toYaml(drift.installed), toYaml(drift.file), screen);
  } catch (error) {
    // Odd characters that no YAML holds; the keys that differ are named already.
    if (error instanceof ExpectedError) return '';
    throw error;
  }
}
