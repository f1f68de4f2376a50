import {expect, test} from 'vitest';
import {permissionsOfUpgrade} from '../../src/operations/step-permissions.ts';

const desired = {
  manifest: [],
  name: {release: 'scalr-agent', kubeTarget: {namespace: 'scalr'}},
};

/** What Helm may do with Secrets when it stores the next revision. */
const secretVerbs = (newestRevision: number | undefined): string[] =>
  permissionsOfUpgrade(desired, {installed: [], release: undefined, newestRevision}, []).map(
    ({verb}) => verb,
  );

test.each([undefined, 1, 9])('Helm deletes no revision after revision %s', (revision) => {
  expect(secretVerbs(revision)).toEqual(['get', 'list', 'update', 'create']);
});

test('Helm deletes the oldest of ten revisions before it stores the next one', () => {
  expect(secretVerbs(10)).toEqual(['get', 'list', 'update', 'create', 'delete']);
});
