import type {ReleaseName} from './place.ts';
import {commandLine} from './processes.ts';

/** A command of this program about the same release in the same cluster. */
export function ownCommand(command: string, {release, place}: ReleaseName, ...more: readonly string[]): string {
  const where = [
    ...(place.kubeContext ? ['--kube-context', place.kubeContext] : []),
    ...(place.kubeconfig ? ['--kubeconfig', place.kubeconfig] : []),
  ];
  return commandLine({tool: 'scalr-agent', args: [command, '--release', release, '--namespace', place.namespace, ...where, ...more]});
}
