import type {ObjectDrift} from '../../cluster/diff/live-drift.ts';
import type {ObjectFinding} from '../../ground/finding.ts';
import {few} from '../../ground/text.ts';

/** What an object that differs from its release tells a user. Fields that another program sets are no problem. Pure. */
export function driftFinding({
  object,
  problem,
  paths,
  manager,
  webhooks = [],
}: ObjectDrift): ObjectFinding {
  const fields = few(paths);
  const webhook =
    webhooks.length === 0 ? 'an admission webhook' : `admission webhook ${few(webhooks)}`;
  const message = {
    missing: 'missing, although it is part of the release',
    changed: `changed since the install: ${fields}`,
    added: `has added fields, which install does not remove: ${fields}`,
    overridden: `has fields that ${manager ?? webhook} sets, and that install does not revert: ${fields}`,
  }[problem];
  return {
    code: 'CHANGED_IN_CLUSTER',
    verdict: problem === 'overridden' ? 'note' : 'warning',
    subject: {object: object.replace(/^\w+ /, (kind) => `${kind.trim().toLowerCase()}/`)},
    message,
    remedies: [],
  };
}
