import {isOwnFor} from '../kubernetes/own-objects.ts';
import {type AccountToken, accountTokenIn} from './account-token.ts';
import {type InventoryReadings, userReadings} from './inventory-readings.ts';
import {objectUsers, userText} from './object-users.ts';

export interface SecretItem {
  name: string;
  /** Workloads of others that read it; undefined if they cannot be listed. */
  usedBy: readonly string[] | undefined;
  /** Its token in the Scalr account, if an install has created it. */
  accountToken?: AccountToken | undefined;
}

export function secretsOf(readings: InventoryReadings): SecretItem[] {
  const {namespace} = readings;
  return readings.objects
    .filter((each) => each.kind === 'Secret' && isOwnFor(each, readings.release))
    .map((secret) => ({
      name: secret.metadata.name,
      usedBy: objectUsers(
        {kind: 'Secret', name: secret.metadata.name},
        userReadings(readings),
      )?.map((user) => userText(user, namespace)),
      accountToken: accountTokenIn(secret),
    }));
}
