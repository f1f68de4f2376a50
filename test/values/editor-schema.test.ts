import {Ajv, type ValidateFunction} from 'ajv';
import {expect, test} from 'vitest';
import {parse} from 'yaml';
import {
  chartSchema,
  defaultsOf,
  leavesOf,
  type SchemaNode,
} from '../../src/charts/releases/schema.ts';
import type {Target} from '../../src/charts/releases/target.ts';
import {editorSchema} from '../../src/values/editor-schema.ts';
import {readSource} from '../../src/values/reading/source.ts';
import {validate} from '../../src/values/validate/validate.ts';
import {DOCUMENTS} from '../golden/cases.ts';
import {sample} from '../support/sample.ts';
import {someVersions, TARGETS} from '../support/versions.ts';
import {MISTAKES, SOUND, withToken} from './validate/mistakes.ts';
import {CASES, targetOf} from './validate/rule-cases.ts';

const compiled = new Map<string, ValidateFunction>();

/** Strict, so that a word of ours that is left in the schema fails. */
function checkOf(target: Target): ValidateFunction {
  const name = `${target.chart} ${target.version}`;
  const ajv = new Ajv({
    strict: true,
    strictTypes: false,
    strictTuples: false,
    allowUnionTypes: true,
    allErrors: true,
  });
  ajv.addVocabulary(['deprecationMessage']);
  const check = compiled.get(name) ?? ajv.compile(editorSchema(target));
  compiled.set(name, check);
  return check;
}

const problemsOf = (target: Target, values: unknown): string[] => {
  const check = checkOf(target);
  return check(values)
    ? []
    : (check.errors ?? []).map(({instancePath, message}) => `${instancePath} ${message}`);
};

const nodesAt = (root: SchemaNode, [key, ...others]: readonly string[]): SchemaNode[] =>
  key === undefined
    ? [root]
    : (root.anyOf ?? [root]).flatMap(({properties}) =>
        properties?.[key] ? nodesAt(properties[key], others) : [],
      );

test.each(
  TARGETS,
)('every key of $chart $version has a description that ends as a sentence', (target) => {
  const schema = editorSchema(target);
  const texts = leavesOf(chartSchema(target.chart), target.version).map(({path}) => {
    const nodes = nodesAt(schema, path).flatMap((node) => node.anyOf ?? [node]);
    return [
      path.join('.'),
      nodes.length > 0 && nodes.every(({description}) => /^[A-Z].*\.$/.test(String(description))),
    ];
  });
  expect(texts.filter(([, isText]) => !isText)).toEqual([]);
});

test.each(someVersions())('the defaults of $chart $version are valid', (target) => {
  expect(problemsOf(target, defaultsOf(chartSchema(target.chart), target.version))).toEqual([]);
});

const files = [
  ...DOCUMENTS.map(({target, text}) => ({target, text})),
  ...CASES.flatMap(([name, wrong, , , right]) =>
    [wrong, right].map((text) => ({target: targetOf(name), text})),
  ),
  ...[...Object.values(MISTAKES).flat(), ...SOUND].map(([name, text]) => ({
    target: targetOf(name),
    text: withToken(text),
  })),
].filter(({text}) => readSource(text).source !== undefined);

test('accepts all files that validate accepts, and marks every unknown key at the top', () => {
  expect(files.length).toBeGreaterThan(300);
  for (const {target, text} of sample(files, 3)) {
    const name = `${target.chart} ${target.version}`;
    const errors = validate(text, target).filter(({verdict}) => verdict === 'error');
    const problems = problemsOf(target, parse(text, {logLevel: 'error', merge: true}) ?? {});
    if (errors.length === 0) expect(problems, `${name}\n${text}`).toEqual([]);
    const unknown = errors.filter(
      ({code, subject}) => code === 'UNKNOWN_KEY' && !subject.path.includes('['),
    );
    if (unknown.length > 0) expect(problems, `${name}\n${text}`).not.toEqual([]);
  }
});

test('names what replaces a key that newer versions do not have', () => {
  const [node] = nodesAt(editorSchema({chart: 'agent-job', version: '0.5.63'}), [
    'worker',
    'runner',
    'image',
    'pullPolicy',
  ]);
  expect(node).toMatchObject({
    deprecated: true,
    deprecationMessage:
      'agent-job 0.6.5 does not have this key. It has task.runner.image.pullPolicy.',
  });
});
