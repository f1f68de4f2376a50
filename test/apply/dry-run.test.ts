import {expect, test} from 'vitest';
import {dryRun, mergePatch} from '../../src/apply/dry-run.ts';
import {objectsIn} from '../../src/cluster/manifest.ts';
import type {Step} from '../../src/plan/step.ts';
import type {Call} from '../../src/ports/processes.ts';
import type {Secret} from '../../src/settings/secret.ts';

const NAME = {release: 'agent', place: {namespace: 'scalr'}};
const RELEASE: Step = {id: 'release', title: 'Install', call: {tool: 'helm', args: ['upgrade']}};
const MANIFEST = `kind: Secret
metadata: {name: token}
---
kind: CustomResourceDefinition
metadata: {name: agenttasktemplates.scalr.io}
spec: {group: scalr.io, names: {kind: AgentTaskTemplate}}
---
apiVersion: scalr.io/v1
kind: AgentTaskTemplate
metadata: {name: task}
---
kind: Deployment
metadata: {name: main}
spec: {strategy: {type: Recreate}}
`;
const INSTALLED = 'kind: Deployment\nmetadata: {name: main}\nspec: {strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 1}}}\n';

/** What is tried of the manifest where these definitions are served. */
async function trying(served: string, steps: readonly Step[] = [RELEASE]) {
  const calls: Call[] = [];
  const run = async (call: Call) => {
    calls.push(call);
    // As where one of the APIs does not answer.
    if (call.args[0] === 'api-resources') return {exitCode: 1, stdout: served, stderr: 'error: unable to retrieve the complete list'};
    return {exitCode: 0, stdout: '', stderr: ''};
  };
  const facts = {namespace: {metadata: {name: 'scalr'}}, installed: objectsIn(INSTALLED)};
  const said = await dryRun({steps}, MANIFEST, NAME, facts, {run});
  const objects = calls.flatMap(({input}) => (input === undefined ? [] : JSON.parse((input as Secret).reveal()).items));
  return {said, objects, calls, kinds: objects.map(({kind}: {kind: string}) => kind)};
}

test('what needs a definition that the install brings is left out, and that is said', async () => {
  for (const {said, kinds} of [
    await trying('pods\n'),
    await trying('agenttasktemplates.scalr.io\n', [{...RELEASE, id: 'definitions'}, RELEASE]),
  ]) {
    expect(kinds).toEqual(['Deployment', 'Secret', 'CustomResourceDefinition']);
    expect(said).toContain('could not be tried: AgentTaskTemplate task.');
  }
  const {said, kinds} = await trying('pods\nagenttasktemplates.scalr.io\n');
  expect(kinds).toContain('AgentTaskTemplate');
  expect(said).toBe('The API server accepts all of it.\n');
});

test('what was installed and is wanted no more is taken away, and Secrets are never merged', async () => {
  const {objects, calls} = await trying('');
  expect(objects[0].spec).toEqual({strategy: {type: 'Recreate', rollingUpdate: null}});
  expect(calls.find(({args}) => args.includes('--server-side'))?.input).toSatisfy((input: Secret) => input.reveal().includes('"Secret"'));
  expect(calls.filter(({args}) => args[0] === 'apply').every(({args}) => args.includes('--dry-run=server'))).toBe(true);
});

test('what has a name is compared with what had that name', () => {
  const after = [{name: 'b', value: 'x'}, {name: 'a', valueFrom: {}}, 'text'];
  expect(mergePatch(after, [{name: 'a', value: 'y'}, {value: 'z'}])).toEqual([
    {name: 'b', value: 'x'},
    {name: 'a', valueFrom: {}, value: null},
    'text',
  ]);
});
