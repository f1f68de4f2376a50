import type {DiscoveredCluster} from '../answers/discover-cluster.ts';

/** Delay before the message. */
const NOTICE_MS = 1000;

interface Waiting {
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>;
  say(text: string): void;
}

/** Shows a message if reading the cluster takes longer than one second. */
export async function waitForCluster(listening: Promise<DiscoveredCluster>, {sleep, say}: Waiting): Promise<DiscoveredCluster> {
  const spoken = new AbortController();
  void sleep(NOTICE_MS, spoken.signal).then(() => spoken.signal.aborted || say('Waiting for the cluster …\n'));
  try {
    return await listening;
  } finally {
    spoken.abort();
  }
}
