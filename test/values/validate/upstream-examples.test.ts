import {existsSync, readdirSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {parseAllDocuments} from 'yaml';
import {chartSchema, closedSchema} from '../../../src/charts/releases/schema.ts';
import {isMap} from '../../../src/ground/tree.ts';
import {validate} from '../../../src/values/validate/validate.ts';
import {TARGETS} from '../../support/versions.ts';

/** Examples show a part of a file, and leave blanks, also in certificates and keys. */
const NOT_OF_AN_EXAMPLE = ['NO_TOKEN', 'PLACEHOLDER', 'NOT_PEM', 'CLEAR_TEXT_CREDENTIAL'];
/**
 * Examples that do not work: the HA example of agent-job selects by the old name and loses its budget in 0.6.1–0.6.3,
 * a rolling update waits for its own volume, and runs of agent-job 0.5.64 do not find a persistent cache.
 */
const TRAPS = [
  'SELECTOR_MATCHES_NOTHING',
  'PDB_NOT_RENDERED',
  'ROLLING_UPDATE_BLOCKED',
  'CACHE_NOT_FOUND_BY_RUNS',
];

const charts = process.env['SCALR_CHARTS'];

describe.skipIf(charts === undefined)('examples in the README and the guides of a version', () => {
  test.each(TARGETS)('$chart $version', ({chart, version}) => {
    const folder = join(charts as string, chart, version);
    const known = Object.keys(closedSchema(chartSchema(chart), version).properties ?? {});
    const found = documents(folder).flatMap(({name, text}) =>
      blocks(text).flatMap((block) => {
        const values = parseAllDocuments(block, {logLevel: 'silent'});
        const tree = Array.isArray(values) && values.length === 1 ? values[0]?.toJS() : undefined;
        if (
          !isMap(tree) ||
          'apiVersion' in tree ||
          !Object.keys(tree).some((key) => known.includes(key))
        )
          return [];
        return validate(block, {chart, version})
          .filter(({code}) => !NOT_OF_AN_EXAMPLE.includes(code) && !TRAPS.includes(code))
          .map(
            ({verdict, code, subject, message}) =>
              `${name} ${verdict} ${code} ${subject.path}: ${message}`,
          );
      }),
    );
    expect(found).toEqual([]);
  });
});

function documents(folder: string): {name: string; text: string}[] {
  const guides = existsSync(join(folder, 'docs'))
    ? readdirSync(join(folder, 'docs')).map((name) => `docs/${name}`)
    : [];
  return ['README.md', ...guides]
    .filter((name) => name.endsWith('.md'))
    .map((name) => ({name, text: readFileSync(join(folder, name), 'utf8')}));
}

const blocks = (text: string): string[] =>
  [...text.matchAll(/^( *)```ya?ml\n([\s\S]*?)^ *```/gm)].map(([, indent = '', block = '']) =>
    block.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  );
