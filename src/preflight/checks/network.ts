import type {Check} from '../check.ts';
import {metadataBlock, metadataDns, policyDns} from './network/metadata.ts';
import {podsOutsideProxy, servicesOutsideProxy} from './network/no-proxy.ts';
import {identityMechanism, metadataIdentity} from './network/workload-identity.ts';

/** What the network of the cluster makes of policies, identities and proxies. */
export const networkChecks: readonly Check[] = [
  metadataBlock,
  metadataDns,
  policyDns,
  metadataIdentity,
  identityMechanism,
  servicesOutsideProxy,
  podsOutsideProxy,
];
