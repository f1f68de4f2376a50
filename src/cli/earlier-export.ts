import {join} from 'node:path';
import type {EarlierExport} from '../extensions/machine/agent.ts';
import {ENV_FILE} from '../extensions/machine/env-file.ts';
import {Secret} from '../ground/secret.ts';
import type {Files} from '../ground/system/system.ts';

/** What an earlier export into the same directory contains. */
export async function earlierExport(
  directory: string,
  files: Pick<Files, 'kindOf' | 'read'>,
): Promise<EarlierExport> {
  const textOf = async (name: string): Promise<string> => {
    const path = join(directory, name);
    return (await files.kindOf(path)) === 'file' ? (await files.read(path)).toString('utf8') : '';
  };
  const [environment, script, compose] = await Promise.all(
    [ENV_FILE, 'run.sh', 'compose.yaml'].map(textOf),
  );
  const token = /^SCALR_AGENT_TOKEN=([\w.-]+)$/m.exec(environment ?? '')?.[1];
  return {
    environment: environment ?? '',
    ...(token === undefined ? {} : {token: new Secret(token)}),
    ...(script || compose ? {commands: `${script}${compose}`} : {}),
  };
}
