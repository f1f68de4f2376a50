import * as Flags from '@oclif/core/flags';
import {ExitCode, ExpectedError} from '../ground/errors.ts';
import type {PoolLinks} from '../operations/pool.ts';

const several = (summary: string) =>
  Flags.string({summary, helpValue: '<NAME>', multiple: true, multipleNonGreedy: true, delimiter: ',' as const});

/** What to link to a pool, or to unlink from it. */
export const linkFlags = {
  workspace: several('Workspace: name, ENVIRONMENT/NAME or ID. May be repeated.'),
  environment: several('Environment whose workspaces use the agent pool by default: name or ID. May be repeated.'),
  'account-default': Flags.boolean({summary: 'The account default.'}),
  'vcs-provider': several('VCS provider: name or ID. May be repeated.'),
};

/** @throws ExpectedError if nothing is selected */
export function linksFrom(
  flags: {
    workspace?: string[] | undefined;
    environment?: string[] | undefined;
    'account-default'?: boolean;
    'vcs-provider'?: string[] | undefined;
  },
  command: string,
): PoolLinks {
  const {workspace: workspaces = [], environment: environments = [], 'vcs-provider': vcsProviders = []} = flags;
  const links = {workspaces, environments, vcsProviders, isAccountDefault: flags['account-default'] ?? false};
  if (links.isAccountDefault || [workspaces, environments, vcsProviders].some(({length}) => length > 0)) return links;
  throw new ExpectedError(`Nothing to ${command}: select workspaces, environments, VCS providers or the account default.`, {
    code: 'USAGE',
    exit: ExitCode.usage,
    suggestions: Object.keys(linkFlags).map((flag) => `Add --${flag}${flag === 'account-default' ? '' : ' NAME'}`),
  });
}
