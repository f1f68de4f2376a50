import {join} from 'node:path';
import {execa} from 'execa';
import {type TestContext, vi} from 'vitest';
import type {Kubectl} from './kubectl.ts';

/** Definitions of the controllers in their Go modules. */
const CONTROLLERS = {
  'github.com/fluxcd/helm-controller@v1.4.0': [
    'config/crd/bases/helm.toolkit.fluxcd.io_helmreleases.yaml',
  ],
  'github.com/argoproj/argo-cd/v3@v3.1.0': ['manifests/crds/application-crd.yaml'],
};

/** Applies the definitions of Argo CD and Flux; skips the test without Go or the modules. */
export const applyGitOpsDefinitions = (
  kubectl: Kubectl,
  context: Pick<TestContext, 'skip'>,
): Promise<void> => applyDefinitions(kubectl, CONTROLLERS, context);

/** Applies files of Go modules that contain definitions, and waits for these; skips the test without Go or the modules. */
export async function applyDefinitions(
  kubectl: Kubectl,
  modules: Readonly<Record<string, readonly string[]>>,
  {skip}: Pick<TestContext, 'skip'>,
): Promise<void> {
  for (const [module, files] of Object.entries(modules)) {
    const {stdout, exitCode, stderr} = await execa('go', ['mod', 'download', '-json', module], {
      reject: false,
      cwd: '/',
    });
    if (exitCode !== 0)
      skip(`cannot download ${module}, which has the definitions: ${stderr || stdout}`);
    const {Dir: directory} = JSON.parse(stdout) as {Dir: string};
    for (const file of files) {
      const path = join(directory, file);
      await kubectl('apply', '--server-side', '--force-conflicts', '--filename', path);
      // kubectl wait fails if the definition has no conditions yet.
      await vi.waitFor(
        () => kubectl('wait', '--for=condition=Established', '--timeout=60s', '--filename', path),
        {timeout: 60_000, interval: 500},
      );
    }
  }
}
