import {scalrChart} from '../charts/define.ts';
import type {ReleaseName} from '../ground/command-line.ts';
import {ExpectedError} from '../ground/errors.ts';
import {findCredential} from '../scalr/credentials.ts';
import {url} from '../settings/agent.ts';
import {Settings} from '../settings/settings.ts';
import {readAccountStatus, unreadPart, withAccount} from '../status/account-status.ts';
import type {ReleaseStatus} from '../status/status.ts';
import {readValues} from '../values/read-values.ts';
import {accountClient} from './account.ts';
import type {CommandContext} from './operate.ts';

/** The cluster has answered already, so a slow account must not keep the user waiting. */
const ACCOUNT_TIMEOUT_MS = 10_000;

/** Adds what Scalr reports, if there is a token for the account in the values of the release; otherwise nothing is contacted. */
export async function statusWithAccount(
  name: ReleaseName,
  status: ReleaseStatus,
  {app, version, timeoutMs}: Pick<CommandContext, 'app' | 'version' | 'timeoutMs'>,
): Promise<ReleaseStatus> {
  const address = urlOf(status);
  if (address === undefined) return status;
  const signal = AbortSignal.timeout(Math.min(timeoutMs, ACCOUNT_TIMEOUT_MS));
  try {
    const credential = await findCredential({url: address, isStated: false}, app);
    if (credential === undefined) return status;
    const client = await accountClient(credential, new Settings(new Map()), {app, version, signal});
    return withAccount(name, status, await readAccountStatus(client, status), app.now());
  } catch (error) {
    if (!(error instanceof ExpectedError)) throw error;
    return {...status, unread: [...status.unread, unreadPart('Scalr account', error)]};
  }
}

/** The address that the release connects to; unknown if only its token contains it. */
function urlOf({revision, installedValues: values}: ReleaseStatus): string | undefined {
  const target = scalrChart(revision?.chart ?? '');
  const found = values === undefined || target === undefined ? undefined : readValues(values, target).settings.get(url.id);
  return typeof found === 'string' && URL.canParse(found) ? found : undefined;
}
