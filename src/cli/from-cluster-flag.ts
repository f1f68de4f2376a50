import * as Flags from '@oclif/core/flags';

export const fromClusterFlag = {
  'from-cluster': Flags.boolean({
    summary: 'Let the cluster answer what nobody said; without it the same line always gives the same result.',
  }),
};
