import {scalrChart} from '../charts/define.ts';
import type {ReleaseName} from '../ground/command-line.ts';
import {ExpectedError} from '../ground/errors.ts';
import {url} from '../settings/agent.ts';
import {Settings} from '../settings/settings.ts';
import {readAccountStatus, unreadPart, withAccount} from '../status/account-status.ts';
import type {ReleaseStatus} from '../status/status.ts';
import {readValues} from '../values/read-values.ts';
import {optionalAccount} from './account.ts';
import type {CommandContext} from './operate.ts';

/** Adds what Scalr reports, if there is a token for the account in the values of the release; otherwise nothing is contacted. */
export async function statusWithAccount(
  name: ReleaseName,
  status: ReleaseStatus,
  context: Pick<CommandContext, 'app' | 'version' | 'timeoutMs'>,
): Promise<ReleaseStatus> {
  const address = urlOf(status);
  if (address === undefined) return status;
  try {
    const client = await optionalAccount(address, new Settings(new Map()), context);
    if (client === undefined) return status;
    return withAccount(name, status, await readAccountStatus(client, status), context.app.now());
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
