import {readFileSync} from 'node:fs';
import {createServer} from 'node:http';
import type {AddressInfo} from 'node:net';
import {join} from 'node:path';
import {execa} from 'execa';
import {onTestFinished} from 'vitest';
import type {Target} from '../../src/charts/releases/target.ts';
import {directoryOf} from '../cluster/helm/charts-under-test.ts';

/** A repository on this machine that serves charts, as upstream's does. Returns its address. */
export async function chartRepository(
  helm: string,
  charts: Target | readonly Target[],
  scratch: string,
): Promise<string> {
  const served = join(scratch, 'served');
  for (const target of [charts].flat() as Target[])
    await execa(helm, ['package', await directoryOf(target, scratch), '--destination', served]);
  await execa(helm, ['repo', 'index', served]);
  const server = createServer(({url = '/'}, response) => {
    try {
      response.end(readFileSync(join(served, url)));
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}
