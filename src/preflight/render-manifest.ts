import {type Fact, known, unknown} from '../cluster/facts/fact.ts';
import {objectsIn} from '../cluster/manifest.ts';
import {ExpectedError} from '../errors.ts';
import type {Processes} from '../ports/processes.ts';
import type {Get} from '../settings/define.ts';
import {checkRendering} from './check-rendering.ts';
import type {Situation} from './situation.ts';

type Rendered = Pick<Situation, 'manifest' | 'refusal'>;

/** What the chart makes, on the oldest server it is made for where this one is older: checks of anything else need not wait for it. */
export async function renderManifest(
  wanted: Parameters<typeof checkRendering>[0],
  serverVersion: string | undefined,
  get: Get,
  processes: Processes,
): Promise<Rendered> {
  const on = async (version: string): Promise<Rendered | ExpectedError> => {
    try {
      const manifest = await checkRendering(wanted, {serverVersion: version}, get, processes);
      return {manifest: rendered(manifest)};
    } catch (error) {
      if (error instanceof ExpectedError) return error;
      throw error;
    }
  };
  const first = await on(serverVersion ?? '');
  if (!(first instanceof ExpectedError)) return first;
  const floor = FLOOR.exec(first.message)?.[1];
  const second = floor === undefined ? first : await on(floor);
  if (second instanceof ExpectedError) return {manifest: unrendered(second)};
  // Helm refused the version it takes by itself, which is nobody's.
  return serverVersion === undefined ? second : {...second, refusal: first.message};
}

/** chart requires kubeVersion: >=1.35.0-0 which is incompatible with Kubernetes v1.34.1 */
const FLOOR = /requires kubeVersion: [^\n]*?>=\s*v?(\d+\.\d+(?:\.\d+)?)[^\n]* incompatible with/;

export const rendered = (manifest: string): Situation['manifest'] => known(objectsIn(manifest), 'helm template');

const unrendered = ({message}: ExpectedError): Fact<never> =>
  unknown(message.includes('no answer in time') ? 'timed-out' : 'failed', message);
