import {type FaultyApi, faultyApi} from '../control-plane/faulty-api.ts';
import type {Workplace} from '../control-plane/workplace.ts';
import {installPlace, stepFlags, TOKEN} from './install-place.ts';
import {install} from './run-on-cluster.ts';

interface Deps {
  place: Workplace;
  api: FaultyApi;
}

export async function behindFaultyApi(): Promise<Deps> {
  const place = await installPlace();
  return {place, api: await faultyApi(place.kubeconfig)};
}

/** Installs agent-local through the faulty API; `onText` receives the output as it is printed. */
export async function installThrough(
  {place, api}: Deps,
  helm: string,
  more: readonly string[] = [],
  onText = (_: string): void => undefined,
) {
  let said = '';
  const stderr = (text: string): void => {
    said += text;
    onText(text);
  };
  const argv = [...(await stepFlags('agent-local')), '--yes', '--json', ...more];
  const start = Date.now();
  const {stdout, exit} = await install({...place, kubeconfig: api.kubeconfig}, helm, argv, {
    env: TOKEN,
    stderr,
  });
  return {said, exit, result: JSON.parse(stdout), seconds: (Date.now() - start) / 1000};
}
