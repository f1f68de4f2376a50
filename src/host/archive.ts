import {dirname} from 'node:path/posix';
import {createTar} from 'nanotar';
import {Secret} from '../ground/secret.ts';
import type {HostAgent} from './agent.ts';

/** Files that only the agent reads, as an archive for `docker cp`; undefined if there are none. A copy outlives the directory that it comes from. */
export function agentArchive({files, user = '0:0'}: HostAgent): Secret | undefined {
  const own = files.filter(({isOnMachine}) => !isOnMachine);
  if (own.length === 0) return undefined;
  const [uid, gid] = user.split(':').map(Number);
  const owner = {uid: uid ?? 0, gid: gid ?? 0, mtime: 0};
  const directories = [...new Set(own.map(({path}) => dirname(path)))];
  const archive = createTar([
    ...directories.map((path) => ({name: `${path.slice(1)}/`, attrs: {...owner, mode: '755'}})),
    ...own.map(({path, text, isPrivate}) => ({name: path.slice(1), data: text, attrs: {...owner, mode: isPrivate ? '400' : '444'}})),
  ]);
  return new Secret(Buffer.from(archive).toString('utf8'));
}
