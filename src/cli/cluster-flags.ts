import {ExitCode, ExpectedError} from '../errors.ts';
import type {ReleaseName} from '../ports/place.ts';
import {InvalidValue} from '../settings/define.ts';
import {seconds} from '../settings/kinds.ts';
import {namespace, release} from '../settings/release.ts';
import type {Settings} from '../settings/settings.ts';

export interface ClusterFlags {
  'kube-context'?: string | undefined;
  kubeconfig?: string | undefined;
  timeout?: string | undefined;
  helm?: string | undefined;
  kubectl?: string | undefined;
}

/** The release the command is about, and where. */
export function releaseName(flags: ClusterFlags, settings: Settings): ReleaseName {
  return {
    release: settings.get(release) as string,
    place: {
      namespace: settings.get(namespace) as string,
      ...(flags['kube-context'] ? {kubeContext: flags['kube-context']} : {}),
      ...(flags.kubeconfig ? {kubeconfig: flags.kubeconfig} : {}),
    },
  };
}

export const toolPaths = ({helm, kubectl}: ClusterFlags) => ({...(helm ? {helm} : {}), ...(kubectl ? {kubectl} : {})});

/** Milliseconds of --timeout. @throws ExpectedError */
export const timeoutOf = ({timeout = '10m'}: ClusterFlags): number => durationOf('--timeout', timeout);

const DAY = 86_400;

/** Milliseconds of a Go duration, of a day at most unless told otherwise. @throws ExpectedError */
export function durationOf(flag: string, text: string, {max = DAY} = {}): number {
  try {
    return seconds({min: 1, max}).parse(text, {now: new Date()}) * 1000;
  } catch (error) {
    if (!(error instanceof InvalidValue)) throw error;
    throw new ExpectedError(`${flag}: ${error.message}.`, {
      code: 'INVALID_SETTING',
      exit: ExitCode.usage,
      suggestions: error.suggestion === undefined ? [] : [error.suggestion],
    });
  }
}
