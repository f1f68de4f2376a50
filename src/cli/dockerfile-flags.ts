import * as Flags from '@oclif/core/flags';
import {usageError} from '../ground/errors.ts';
import {type Additions, BASES, type ImageBase} from '../host/docker.ts';
import {repeated} from './flags.ts';

/** Flags of export that only a Dockerfile has. */
export const dockerfileFlags = {
  base: Flags.string({
    summary: 'Image that the Dockerfile extends (default: the one in which the chart executes runs).',
    helpValue: `<${BASES.join('|')}>`,
    options: [...BASES],
  }),
  package: Flags.string({summary: 'Package for the Dockerfile, from apt; can be repeated.', helpValue: '<NAME>', ...repeated}),
  plugins: Flags.string({summary: 'Directory with provider plugins for the Dockerfile.', helpValue: '<DIRECTORY>'}),
};

interface Given {
  base?: string | undefined;
  package?: string[] | undefined;
  plugins?: string | undefined;
}

/** What the Dockerfile adds, and to which image. @throws ExpectedError */
export function additionsFrom(flags: Given, isDockerfile: boolean): Additions {
  const {base, package: packages = [], plugins} = flags;
  if (!isDockerfile && (packages.length > 0 || plugins !== undefined || base !== undefined))
    throw usageError('--base, --package and --plugins are only for the target dockerfile.', [
      'Omit them',
      'Run: scalr-agent export dockerfile',
    ]);
  const wrong = packages.find((each) => !/^[a-z0-9][a-z0-9+.-]+(=[\w.+:~-]+)?$/.test(each));
  if (wrong !== undefined) throw usageError(`--package: "${wrong}" is not the name of a package.`, ['Example: --package jq']);
  return {packages, plugins, base: base as ImageBase | undefined};
}
