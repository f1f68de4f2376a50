import {execFile} from 'node:child_process';
import {promisify} from 'node:util';
import {describe, expect, test} from 'vitest';
import {findHelmMatrix} from '../cluster/helm/find-helm.ts';
import {findKubectl} from '../control-plane/kubectl.ts';
import {PROGRAM} from '../package/built.ts';
import {installPlace, stepFlags, TOKEN} from '../support/install-place.ts';
import {install} from '../support/run-on-cluster.ts';

/** What the built program offers fish at the end of a line. */
async function offered(...words: readonly string[]): Promise<string[]> {
  const {stdout} = await promisify(execFile)(process.execPath, [
    PROGRAM,
    '__complete',
    'fish',
    ...words,
  ]);
  return stdout.split('\n').slice(2, -1);
}

describe.each(await findHelmMatrix())('with Helm $major', ({path: helm}) => {
  test('completes releases, namespaces and contexts of the cluster on the command line', async () => {
    const place = await installPlace();
    const {exit, stderr} = await install(
      place,
      helm,
      [...(await stepFlags('agent-local')), '--yes', '--release', 'blue'],
      {env: TOKEN},
    );
    expect(exit, stderr).toBe(0);
    const line = [
      'status',
      '--kubeconfig',
      place.kubeconfig,
      `--helm=${helm}`,
      '--kubectl',
      await findKubectl(),
    ];
    expect(await offered(...line, '-n', place.namespace, '--release', '')).toEqual([
      'blue\tagent-local-0.6.5, deployed',
    ]);
    expect(await offered(...line, '-n', '')).toContain(`${place.namespace}\t`);
    const [context] = await offered(...line, '--kube-context', '');
    expect(
      await offered(...line, '--kube-context', context?.split('\t')[0] as string, '--namespace='),
    ).toContain(`${place.namespace}\t`);
    expect(await offered(...line, '--kube-context', 'nowhere', '-n', '')).toEqual([]);
  });
});
