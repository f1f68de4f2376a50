import type {DiscoveredCluster} from '../answers/discover-cluster.ts';

/** Who waits longer is told for what. */
const NOTICE_MS = 1000;

interface Waiting {
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>;
  say(text: string): void;
}

/** For who has nothing else to do until the cluster has spoken. */
export async function waitFor(listening: Promise<DiscoveredCluster>, {sleep, say}: Waiting): Promise<DiscoveredCluster> {
  const spoken = new AbortController();
  void sleep(NOTICE_MS, spoken.signal).then(() => spoken.signal.aborted || say('Waiting for the cluster …\n'));
  try {
    return await listening;
  } finally {
    spoken.abort();
  }
}
