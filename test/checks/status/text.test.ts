import {describe, expect, test} from 'vitest';
import type {StatusReadings} from '../../../src/checks/status/status.ts';
import type {KubernetesObject} from '../../../src/cluster/kubernetes/objects.ts';
import {ExpectedError} from '../../../src/ground/errors.ts';
import {objectFinding} from '../../../src/ground/finding.ts';
import {driftText} from '../../../src/ui/changes.ts';
import {statusText} from '../../../src/ui/status.ts';
import {StatusReporter} from '../../../src/ui/status-changes.ts';
import {statusDocument} from '../../../src/ui/status-list.ts';
import {around, deployment, readyPod, replicaSet, waiting} from '../diagnose/objects.ts';
import {lookAt, NAME, NOW, revision, statusFrom, WELL} from './readings.ts';

const PIPE = {hasColor: false, columns: undefined};
const SMALL = {hasColor: false, columns: 80};
const NO_IMAGE = around(waiting('ImagePullBackOff', 'not found'));

const withAnnotation = <T extends KubernetesObject>(pod: T): T => ({
  ...pod,
  metadata: {...pod.metadata, annotations: {'scalr.io/purpose': 'vcs'}},
});

const text = (
  more: Partial<StatusReadings> = {},
  files: readonly string[] = [],
  screen = SMALL,
): string => statusText({name: NAME, status: statusFrom(more), files, now: NOW}, screen);

test('a healthy release', () => {
  expect(text({desired: {}}, ['values.yaml'])).toBe(`✓ Release acme in namespace scalr is ready

Context    prod
Release    deployed, revision 2, 5m ago
Chart      agent-local 0.6.5 (default agent 1.4.0); newest known version
Workloads  ✓ deployment/agent: 1 of 1 ready
Images     scalr/agent:1
Objects    unchanged
Agents     1 of 1 registered (according to their logs)
Runs       not visible: agent-local executes runs inside the agent container
Values     match values.yaml
`);
});

test.each<[string, Partial<StatusReadings>]>([
  ['values', {given: {podAnnotations: {'scalr.io/purpose': 'vcs'}}}],
  [
    'pods',
    {given: undefined, releaseSnapshot: lookAt([...WELL.slice(0, -1), withAnnotation(readyPod())])},
  ],
])('a VCS agent, according to its %s', (_, more) => {
  const found = text(more);
  expect(found).toContain('Pool       VCS access\n');
  expect(found).toContain('Runs       none: VCS agents execute no runs\n');
  expect(statusDocument(NAME, statusFrom(more), [])).toMatchObject({purpose: 'vcs'});
  expect(statusDocument(NAME, statusFrom(), [])).not.toHaveProperty('purpose');
});

test('a broken release, with next steps', () => {
  const denied = objectFinding('unknown', 'installed values', 'FORBIDDEN', {
    message: 'secrets is forbidden',
    remedy: 'Ask for it',
  });
  const given = {
    given: undefined,
    desired: {},
    unread: [denied],
    revision: revision({chart: 'agent-local-0.5.63', app_version: '0.59.0'}),
  };
  expect(
    text({...given, releaseSnapshot: lookAt(NO_IMAGE, {})}, ['-']),
  ).toBe(`× Release acme in namespace scalr cannot become ready

Context    prod
Release    deployed, revision 2, 5m ago
Chart      agent-local 0.5.63 (default agent 0.59.0); 17 releases behind 0.6.5,
           the newest known version
Workloads  × deployment/agent: 0 of 1 ready
Images     scalr/agent:1
Objects    unchanged
Agents     registration unknown: agent-5f-x
Runs       not visible: agent-local executes runs inside the agent container
Values     cannot be compared with standard input

Causes
  × IMAGE_NOT_FOUND  pod/agent-5f-x: ImagePullBackOff: scalr/agent:1: not found
    → Check the repository and the tag of the image: --agent-image,
      --image-registry

Could not be read
  ? FORBIDDEN  installed values: secrets is forbidden
    → Ask for it
`);
});

test.each([
  ['agent-local-99.0.0', /agent-local 99\.0\.0 .*; newer than the newest known version 0\.6\.5/],
  ['agent-local-0.5.1', /; older than all known versions, at least 18 releases behind 0\.6\.5/],
  ['agent-local-0.5.74', /; withdrawn from the chart repository, \d+ releases behind/],
])('the version of %s', (chart, says) => {
  expect(text({revision: revision({chart})}, [], PIPE as never)).toMatch(says);
});

test('with several agents, those without a log line are named', () => {
  const one = readyPod();
  const other = readyPod('agent-5f-y');
  const objects = [deployment({}), replicaSet(), one, other];
  const logs = {'agent-5f-x/agent': 'Scalr agent is ready to receive tasks.'};
  expect(text({releaseSnapshot: lookAt(objects, logs)})).toMatch(
    /Agents +1 of 2 registered \(according to their logs\); unknown: agent-5f-y\n/,
  );
});

test('a pending release is not ready', () => {
  expect(text({releaseSnapshot: lookAt([deployment({}), replicaSet()], {})})).toMatch(
    /^! Release acme in namespace scalr is not ready yet\n/,
  );
});

test('only the first causes are printed, and the number of further ones', () => {
  const unread = [1, 2, 3, 4, 5, 6, 7].map((each) =>
    objectFinding('unknown', `thing ${each}`, 'FORBIDDEN', {message: 'no', remedy: 'Ask'}),
  );
  expect(text({unread})).toMatch(/thing 5[\s\S]*\n {2}and 2 more \(use --json to list all\)\n$/);
});

test('commands are not wrapped on a small screen', () => {
  expect(text({revision: revision({status: 'uninstalling'})})).toMatch(
    /\n {4}→ Finish the uninstall:\n {6}scalr-agent uninstall --release acme --namespace scalr\n/,
  );
});

test.each([
  [0, '0s'],
  [119, '119s'],
  [120, '2m'],
  [7200, '2h'],
  [172_800, '2d'],
])('prints %i seconds as %s', (seconds, age) => {
  const updated = new Date(NOW.getTime() - seconds * 1000).toISOString();
  expect(text({revision: revision({updated})})).toContain(`revision 2, ${age} ago\n`);
});

test('differences are printed as a diff, and nothing without differences', async () => {
  const {drift} = statusFrom({given: {b: 'old', a: 1}, desired: {a: 1, b: 'new'}});
  expect(driftText(drift, PIPE)).toContain('-b: "old"\n+b: "new"\n');
  expect(driftText(statusFrom({desired: {}}).drift, PIPE)).toBe('');
  const odd = statusFrom({given: {'<<': {a: 1}}, desired: {}});
  expect(driftText(odd.drift, PIPE)).toBe('');
});

describe('changes', () => {
  function reporter() {
    const said: string[] = [];
    const changes = new StatusReporter((line) => said.push(line), PIPE);
    const show = (more: Partial<StatusReadings> = {}): string[] => {
      said.length = 0;
      changes.status({name: NAME, status: statusFrom(more), files: [], now: NOW});
      return [...said];
    };
    return {said, changes, show};
  }

  test('are printed once, each with its time', () => {
    const {show} = reporter();
    expect(show().join('')).toMatch(/^✓ Release/);
    expect(show()).toEqual([]);
    expect(show({releaseSnapshot: lookAt(NO_IMAGE, {})})).toEqual([
      '10:05:00Z × deployment/agent: 0 of 1 ready\n',
      '10:05:00Z agents: registration unknown: agent-5f-x\n',
      expect.stringMatching(
        /^10:05:00Z × IMAGE_NOT_FOUND {2}pod\/agent-5f-x: ImagePullBackOff: .* → Check the repository/,
      ),
      '10:05:00Z × Release acme in namespace scalr cannot become ready\n',
    ]);
    expect(show({releaseSnapshot: lookAt(WELL)}).at(-1)).toMatch(
      /^10:05:00Z ✓ resolved: pod\/agent-5f-x /,
    );
  });

  test('an error is printed when it starts and when it is resolved', () => {
    const {said, changes, show} = reporter();
    show();
    said.length = 0;
    const error = new ExpectedError('no answer', {code: 'CLUSTER_UNREACHABLE'});
    changes.error(error, NOW);
    changes.error(error, NOW);
    expect(said).toEqual(['10:05:00Z ? CLUSTER_UNREACHABLE  no answer\n']);
    expect(show()).toEqual(['10:05:00Z The API server is reachable again\n']);
  });
});
