import {gzipSync} from 'node:zlib';
import {describe, expect, test} from 'vitest';
import type {InstallFacts, ReleaseState} from '../../src/cluster/install-facts.ts';
import {ownLabels} from '../../src/cluster/own-labels.ts';
import {planInstall, type WantedRelease} from '../../src/plan/install.ts';
import {Secret} from '../../src/settings/secret.ts';

const NAME = {release: 'agent', place: {namespace: 'scalr'}};
const TOKEN = {name: 'scalr-agent-token', type: 'Opaque', data: {token: new Secret('hunter2')}, howToGive: 'Give the token'} as const;
const wanted = (more: Partial<WantedRelease> = {}): WantedRelease => ({
  name: NAME,
  chart: {chart: 'agent-job', version: '0.6.5'},
  values: {a: 1},
  yaml: 'a: 1\n',
  manifest: 'kind: Deployment\nmetadata: {name: agent-main}\nspec: {replicas: 2}\n',
  secrets: [TOKEN],
  ...more,
});
const facts = (more: Partial<InstallFacts> = {}): InstallFacts => ({
  context: {name: 'c', cluster: 'c', server: 's'},
  serverVersion: 'v1.35.0',
  namespace: {metadata: {name: 'scalr'}},
  release: undefined,
  stopped: new Set(),
  secrets: new Map(),
  ...more,
});
const secret = (content: string, labels = {}) => ({
  metadata: {name: 'scalr-agent-token', labels},
  data: {token: Buffer.from(content).toString('base64')},
});
const release = (more: Partial<ReleaseState> = {}): ReleaseState => ({
  revision: 3,
  status: 'deployed',
  chart: 'agent-job-0.6.5',
  updated: 'today',
  values: {a: 1},
  ...more,
});
const ids = (given: WantedRelease, found: InstallFacts): string[] => planInstall(given, found).steps.map(({id}) => id);
const inPlace = {secrets: new Map([['scalr-agent-token', secret('hunter2')]]), release: release()};

test('from nothing: namespace, Secret, release; no secret is on a command line', () => {
  const {steps} = planInstall(wanted(), facts({namespace: undefined}));
  expect(steps.map(({id}) => id)).toEqual(['namespace', 'secret/scalr-agent-token', 'release']);
  expect(JSON.stringify(steps.map(({call}) => call.args))).not.toContain('hunter2');
  expect(steps.at(-1)?.call.args).toContain('--reset-values');
});

test('what is in place needs nothing', () => {
  expect(ids(wanted(), facts(inPlace))).toEqual([]);
});

test.each<[what: string, given: Partial<WantedRelease>, found: Partial<InstallFacts>, steps: string[]]>([
  ['other values', {values: {a: 2}}, {}, ['release']],
  ['a release that failed', {}, {release: release({status: 'failed'})}, ['release']],
  [
    'a token that changed',
    {},
    {secrets: new Map([['scalr-agent-token', secret('old', ownLabels('agent'))]])},
    ['secret/scalr-agent-token'],
  ],
  ['what an uninstall has stopped', {}, {stopped: new Set(['Deployment agent-main'])}, ['start/agent-main']],
  ['somebody else stopped', {}, {stopped: new Set(['Deployment another'])}, []],
])('%s', (_, given, found, steps) => {
  expect(ids(wanted(given), facts({...inPlace, ...found}))).toEqual(steps);
});

test('a stopped Deployment gets the replicas of the chart back', () => {
  const {steps} = planInstall(wanted(), facts({...inPlace, stopped: new Set(['Deployment agent-main'])}));
  expect(steps[0]?.call.args).toEqual(expect.arrayContaining(['scale', 'deployment/agent-main', '--replicas=2']));
});

test('definitions of the new chart come before the release, and only when the chart changes', () => {
  const manifest = 'kind: CustomResourceDefinition\nmetadata: {name: agenttasktemplates.scalr.io}\n';
  const older = {...inPlace, release: release({chart: 'agent-job-0.5.67'})};
  expect(ids(wanted({manifest}), facts(older))).toEqual(['definitions', 'release']);
  expect(ids(wanted({manifest, values: {a: 2}}), facts(inPlace))).toEqual(['release']);
});

describe('what broke off', () => {
  const packed = gzipSync(JSON.stringify({info: {status: 'pending-upgrade'}})).toString('base64');
  const record = {metadata: {name: 'sh.helm.release.v1.agent.v3'}, data: {release: Buffer.from(packed).toString('base64')}};

  test('is marked as failed first', () => {
    const found = {...inPlace, release: release({status: 'pending-upgrade', record})};
    expect(ids(wanted(), facts(found))).toEqual(['unlock', 'release']);
  });

  test('and that helm keeps elsewhere is told, with the way out', () => {
    const found = facts({...inPlace, release: release({status: 'pending-install'})});
    expect(() => planInstall(wanted(), found)).toThrow(expect.objectContaining({code: 'RELEASE_BUSY'}));
  });
});

test('a Secret of somebody else is never overwritten', () => {
  const found = facts({secrets: new Map([['scalr-agent-token', secret('theirs')]])});
  expect(() => planInstall(wanted(), found)).toThrow(expect.objectContaining({code: 'OBJECT_OF_ANOTHER', exit: 2}));
});

test('what is nowhere is asked for, with every key that is missing', () => {
  const without = wanted({secrets: [{...TOKEN, data: {token: undefined}}]});
  expect(() => planInstall(without, facts())).toThrow(expect.objectContaining({code: 'MISSING_SETTING', suggestions: ['Give the token']}));
  const other = facts({secrets: new Map([['scalr-agent-token', {metadata: {name: 'x'}, data: {password: ''}}]])});
  expect(() => planInstall(without, other)).toThrow('has no key token; it has password');
});
