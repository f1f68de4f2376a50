import type {Warning} from '../ground/errors.ts';
import type {Checked} from './check.ts';

/** Checks that find out what a warning about the settings cannot know, by the code of the warning. */
export const VERIFIED_BY: Readonly<Record<string, readonly Checked['id'][]>> = {
  NEEDS_KUBERNETES_1_35: ['server-version', 'node-versions'],
  CLAIM_HAS_TO_BE_SHARED: ['claim-access-mode'],
  POLICY_ENFORCEMENT: ['metadata-block'],
  POLICY_AGAINST_CLOUD_DNS: ['metadata-dns'],
};

/** True for a warning that a check can answer. */
export const isVerifiable = ({code}: Warning): boolean => code in VERIFIED_BY;

/** The warnings about the settings that these checks have not answered: a skipped check answers nothing. */
export const unverified = (warnings: readonly Warning[], checks: readonly Checked[]): Warning[] =>
  warnings.filter(({code}) => {
    const answers = VERIFIED_BY[code]?.map((id) => checks.find((check) => check.id === id)?.status ?? 'skip');
    return answers === undefined || answers.includes('skip');
  });
