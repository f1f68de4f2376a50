import {describe, expect, test} from 'vitest';
import {remedyTexts} from '../../../src/ground/finding.ts';
import {fixGroup} from '../../../src/values/validate/apply-fixes.ts';
import {findingsOf} from '../../../src/values/validate/check-files.ts';
import {validate} from '../../../src/values/validate/validate.ts';
import {MISTAKES, type Mistake, SOUND, withToken} from './mistakes.ts';
import {targetOf} from './rule-cases.ts';

const isFound = ([name, text, path]: Mistake): boolean =>
  validate(withToken(text), targetOf(name)).some(
    ({subject}) =>
      subject.path === path ||
      subject.path.startsWith(`${path}.`) ||
      subject.path.startsWith(`${path}[`),
  );

describe.each(Object.entries(MISTAKES))('%s', (_, mistakes) => {
  test('are all found', () => {
    const missed = mistakes
      .filter((each) => !isFound(each))
      .map(([name, text]) => `${name}: ${text}`);
    expect(missed).toEqual([]);
  });
});

test.each(SOUND)('%s: finds nothing in %s', (name, text) => {
  expect(validate(withToken(text), targetOf(name))).toEqual([]);
});

/** The file after --fix, and what is still said of it. */
function fixed(text: string, target: ReturnType<typeof targetOf>) {
  const group = {files: [{file: 'values.yaml', text}], areLayers: false, target};
  const {rewrites, fixed: after} = fixGroup({...group, findings: findingsOf(group, target)});
  return {text: rewrites[0]?.after ?? text, findings: after.findings};
}

describe('--fix', () => {
  const MISPLACED: readonly Mistake[] = [
    [
      'job 0.6.5',
      'agent:\n  token: abc\ntask:\n  runner:\n    nodeSelector:\n      pool: runs\n',
      'task.nodeSelector',
    ],
    ['local 0.6.5', 'agent:\n  tokne: 5\n  nodeSelector:\n    pool: 1\n', 'nodeSelector'],
    ['local 0.6.5', 'agent:\n  token: abc\nextraEnvs:\n  SCALR_DEBUG: 1\n', 'extraEnv'],
  ];

  test.each(
    MISPLACED,
  )('fixes all errors of %s: %s, and changes nothing when run again', (name, text) => {
    const target = targetOf(name);
    const once = fixed(text, target);
    expect(once.text).not.toBe(text);
    expect(once.findings.filter(({verdict}) => verdict === 'error')).toEqual([]);
    expect(fixed(once.text, target).text).toBe(once.text);
  });

  test('changes nothing when run again, for any mistake', () => {
    const again = Object.values(MISTAKES)
      .flat()
      .flatMap(([name, text]) => {
        const target = targetOf(name);
        const once = fixed(withToken(text), target);
        return fixed(once.text, target).text === once.text ? [] : [text];
      });
    expect(again).toEqual([]);
  });
});

describe('a file with other content than values', () => {
  test.each([
    ['local 0.6.5', 'agent-local:\n  agent: {token: abc}\n', 'NESTED_VALUES', 'agent-local'],
    ['job 0.6.5', 'scalr-agent: {task: {nodeSelector: {}}}', 'NESTED_VALUES', 'scalr-agent'],
  ] as const)('%s: %s has only this finding', (name, text, code, path) => {
    expect(validate(text, targetOf(name))).toMatchObject([
      {verdict: 'error', code, subject: {path}},
    ]);
  });
});

test.each([
  ['job 0.6.5', 'task: {runner: {nodeSelector: {a: b}}}', 'task.nodeSelector'],
  ['job 0.6.5', 'resources: {limits: {cpu: 1}}', 'task.runner.resources'],
  ['job 0.6.5', 'tolerations: [{operator: Exists}]', 'task.tolerations'],
  ['job 0.6.5', 'podAnnotations: {a: b}', 'global.podAnnotations'],
  ['job 0.6.5', 'image: {tag: x}', 'agent.image'],
  ['job 0.5.63', 'agent: {auth: {token: abc}}', 'agent.tokenExistingSecret'],
  [
    'job 0.5.64',
    'agent: {auth: {token: abc}}',
    'agent.tokenExistingSecret.name: the name of a Secret that contains the token',
  ],
  [
    'job 0.6.5',
    'agent: {securityContext: {runAsUser: 1}}',
    'agent.controller.securityContext and task.worker.securityContext',
  ],
  ['local 0.6.5', 'agent: {resources: {limits: {cpu: 1}}}', 'resources'],
  ['local 0.6.5', 'task: {nodeSelector: {a: b}}', 'nodeSelector'],
  ['local 0.6.5', 'env: [{name: A, value: b}]', 'extraEnv'],
  ['local 0.6.5', 'replicas: 2', 'replicaCount'],
  [
    'k8s 0.6.5',
    'task: {runner: {resources: {limits: {memory: 2Gi}}}}',
    'agent.container_task_mem_limit: 2048',
  ],
] as const)('%s: for %s suggests %s', (name, text, suggestion) => {
  expect(remedyTexts(validate(withToken(text), targetOf(name)))).toContain(suggestion);
});
