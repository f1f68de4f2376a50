import {ExitCode, ExpectedError} from '../errors.ts';
import type {ReleaseName} from '../ports/helm.ts';
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

/** Milliseconds of a Go duration. @throws ExpectedError */
export function durationOf(flag: string, text: string): number {
  try {
    return seconds({min: 1, max: 86_400}).parse(text, {now: new Date()}) * 1000;
  } catch (error) {
    throw new ExpectedError(`${flag} ${text}: ${(error as Error).message}.`, {
      code: 'INVALID_SETTING',
      exit: ExitCode.usage,
      suggestions: ['Write it like 90s, 10m or 1h30m'],
    });
  }
}
