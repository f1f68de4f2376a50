import type {ReleaseRecord} from '../cluster/helm/release-record.ts';
import {helmCommand, type ReleaseName} from '../ground/command-line.ts';
import {failed} from '../ground/errors.ts';

export interface PendingChoices {
  /** A pending Helm operation counts as aborted, however new it is. */
  takesOver: boolean;
  /** After this time a pending Helm operation counts as aborted. */
  timeoutMs: number;
  now: Date;
}

/** The helm that has started a pending operation may still run. @throws ExpectedError unless the operation counts as aborted */
export function requireAborted(
  {release, kubeTarget}: ReleaseName,
  {status, revision, updated, operator, description}: ReleaseRecord,
  {takesOver, timeoutMs, now}: PendingChoices,
): void {
  const age = now.getTime() - Date.parse(updated);
  if (takesOver || age >= timeoutMs) return;
  const since = `${updated.replace(/\.\d+/, '')}, ${Math.round(age / 1000)}s ago`;
  const client = operator === undefined ? 'A Helm client' : `The Helm client "${operator}"`;
  throw failed(
    'RELEASE_BUSY',
    `Release ${release} is busy: ${status} (revision ${revision}) since ${since}. ` +
      `${client} started it${description ? ` ("${description}")` : ''} and may still be running.`,
    [
      `Wait until it ends, then run the same command again: ${helmCommand(kubeTarget, 'history', release, '--namespace', kubeTarget.namespace)}`,
      'If that operation no longer runs, add --take-over',
    ],
  );
}
