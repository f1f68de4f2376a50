import * as Flags from '@oclif/core/flags';
import {tokenSecret} from '../settings/agent.ts';
import {chart, chartSource, chartVersion, namespace, release} from '../settings/release.ts';
import {clientCertSecret} from '../settings/tls.ts';
import type {SharedFlags} from './base-command.ts';
import {answersFlag, type ClusterFlags, confirmFlags, connectionFlags, settingFlags} from './flags.ts';

export interface UpgradeFlags extends ClusterFlags, SharedFlags {
  yes?: boolean;
  'dry-run'?: boolean;
  'exit-code'?: boolean;
  'no-wait'?: boolean;
  'rollback-on-failure'?: boolean;
  'remove-obsolete'?: boolean;
  'take-over'?: boolean;
  drain: boolean;
  'drain-timeout': string;
  confirm?: string | undefined;
  'new-release'?: string | undefined;
  values?: string[] | undefined;
}

/** The release knows all others. */
export const UPGRADE_SETTINGS = [namespace, release, chart, chartVersion, chartSource, tokenSecret, clientCertSecret];

export const upgradeFlags = {
  'exit-code': Flags.boolean({summary: 'With --dry-run: exit with 5 when there are changes.', dependsOn: ['dry-run']}),
  drain: Flags.boolean({summary: 'Wait for runs that the upgrade would interrupt.', default: true, allowNo: true}),
  'drain-timeout': Flags.string({summary: 'Time to wait for the runs in flight.', helpValue: '<DURATION>', default: '30m'}),
  'no-wait': Flags.boolean({summary: 'Do not wait for the agent to become ready.'}),
  'rollback-on-failure': Flags.boolean({
    summary: 'Roll back when the upgrade fails; saves logs, events and objects to a file first.',
    exclusive: ['no-wait'],
  }),
  'remove-obsolete': Flags.boolean({
    summary: 'Delete CRDs that nothing uses after the upgrade. A rollback is not possible afterwards.',
    exclusive: ['no-wait'],
  }),
  'take-over': Flags.boolean({
    summary: 'Continue while a Helm operation is pending. By default, a pending operation counts as aborted after --timeout.',
  }),
  'new-release': Flags.string({
    summary: 'Release name for another chart (default: release name with the suffix of the chart).',
    helpValue: '<NAME>',
  }),
  values: Flags.string({
    summary: 'Values file to merge over the migrated values. Can be repeated.',
    helpValue: '<FILE>',
    multiple: true,
    multipleNonGreedy: true,
  }),
  confirm: Flags.string({summary: 'Release name, to confirm a downgrade.', helpValue: '<NAME>'}),
  ...confirmFlags,
  ...answersFlag,
  ...settingFlags(UPGRADE_SETTINGS, {chart: 'Chart to change to (default: the installed one).'}),
  ...connectionFlags,
};
