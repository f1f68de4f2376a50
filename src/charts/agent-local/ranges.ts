/** The metadata service is blocked whatever `allowMetadataService` says, the policy has no rule for DNS, and the key that counts is below `agent`. */
export const METADATA_BELOW_AGENT = '0.5.65 - 0.5.66';

/** Missing in the releases between, which were cut from an older branch. */
export const MUTUAL_TLS = '0.5.73 - 0.5.74 || >=0.6.1';
export const SPLIT_PERSISTENCE = '0.5.74 || >=0.6.1';
export const ONE_PERSISTENCE = '<=0.5.73 || 0.5.75 - 0.5.76';
