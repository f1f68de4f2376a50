import {gunzipSync, gzipSync} from 'node:zlib';
import type {SecretObject} from '../kubernetes/objects.ts';

/** The Secret in which helm keeps one revision of a release. */
export const recordName = (release: string, revision: number): string => `sh.helm.release.v1.${release}.v${revision}`;

/**
 * The record of a revision that helm did not finish, as helm itself writes it when interrupted: failed. With it the next
 * upgrade compares against what this revision applied; without it, helm 3 would not delete obsolete objects.
 */
export function markedFailed(record: SecretObject): SecretObject {
  const written = record.data?.['release'];
  if (written === undefined) throw new Error(`Secret ${record.metadata.name} does not contain a release.`);
  // Base64 of the API around base64 of helm around gzip around JSON.
  const text = gunzipSync(Buffer.from(Buffer.from(written, 'base64').toString('utf8'), 'base64')).toString('utf8');
  const release = JSON.parse(text) as {info?: {status?: string; description?: string}};
  release.info = {...release.info, status: 'failed', description: 'Interrupted; marked as failed by scalr-agent'};
  const packed = gzipSync(JSON.stringify(release)).toString('base64');
  const {metadata} = record;
  return {
    ...record,
    metadata: {...metadata, labels: {...metadata.labels, status: 'failed'}},
    data: {...record.data, release: Buffer.from(packed, 'utf8').toString('base64')},
  };
}
