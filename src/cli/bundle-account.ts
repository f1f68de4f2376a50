import type {Gap, TextFile} from '../bundle/collect/read-objects.ts';
import {type BundledRelease, helmReleaseOf} from '../bundle/collect/scope.ts';
import {scalrChart} from '../charts/define.ts';
import {ExpectedError} from '../ground/errors.ts';
import {jsonText, type Values} from '../ground/tree.ts';
import type {Pod} from '../kubernetes/objects.ts';
import {findPool, linksOf, listAgents, queueOf} from '../scalr/account.ts';
import type {ScalrClient} from '../scalr/client.ts';
import {url} from '../settings/agent.ts';
import {Settings} from '../settings/settings.ts';
import {poolOfPods} from '../status/account-status.ts';
import {readValues} from '../values/read-values.ts';
import {optionalAccount} from './account.ts';
import type {CommandContext} from './operate.ts';

type Release = BundledRelease & {values: Values | undefined};
type AccountFiles = {texts: TextFile[]; gaps: Gap[]};

/** The agent pool of each release in its Scalr account: one file per release, if there is a token for exactly the host of the release. */
export const accountFiles =
  (context: Pick<CommandContext, 'app' | 'version' | 'timeoutMs'>) =>
  async (releases: readonly Release[], pods: readonly Pod[]): Promise<AccountFiles> => {
    // Pods of runs belong to a Job, or to nothing.
    const agents = pods.filter(({metadata}) => /Set$/.test(metadata.ownerReferences?.[0]?.kind ?? ''));
    const isOf = (pod: Pod, {name}: Release): boolean => releases.length === 1 || helmReleaseOf(pod) === name;
    const all = await Promise.all(
      releases.map((each) =>
        filesOf(
          each,
          agents.filter((pod) => isOf(pod, each)),
          context,
        ),
      ),
    );
    return {texts: all.flatMap(({texts}) => texts), gaps: all.flatMap(({gaps}) => gaps)};
  };

async function filesOf(release: Release, agents: readonly Pod[], context: Parameters<typeof accountFiles>[0]): Promise<AccountFiles> {
  const file = `scalr/${release.name}.json`;
  const gaps: Gap[] = [];
  const readable = async <T>(what: string, reading: Promise<T>): Promise<T | null> => {
    try {
      return await reading;
    } catch (error) {
      if (!(error instanceof ExpectedError)) throw error;
      gaps.push({what: `${file} (${what})`, error: {kind: 'server', message: error.message}, isMinor: true});
      return null;
    }
  };
  const client = await readable('Scalr account', accountOf(release, context));
  if (!client) return {texts: [], gaps};
  const names = agents.map(({metadata}) => String(metadata.name));
  const id = await readable('agent pool', poolOfPods(client, names));
  if (!id) return {texts: id === null ? [] : [{name: file, text: jsonText({host: client.host, pods: names, pool: null})}], gaps};
  const [pool, known, links] = await Promise.all([
    readable('agent pool', findPool(client, id)),
    readable('agents', listAgents(client, id)),
    readable('links', linksOf(client, {id, name: id})),
  ]);
  const queue = links === null ? null : await readable('queue of runs', queueOf(client, links.workspaces));
  return {texts: [{name: file, text: jsonText({host: client.host, pods: names, pool, agents: known, links, queue})}], gaps};
}

async function accountOf({chart, version, values}: Release, context: Parameters<typeof accountFiles>[0]): Promise<ScalrClient | undefined> {
  const target = scalrChart(`${chart}-${version}`);
  const address = values === undefined || target === undefined ? undefined : readValues(values, target).settings.get(url.id);
  if (typeof address !== 'string' || !URL.canParse(address)) return undefined;
  return optionalAccount(address, new Settings(new Map()), context);
}
