import type {Interfaces} from '@oclif/core';
import type {Origin} from '../ui/messages.ts';

interface Addresses {
  repository: {url: string};
  bugs: {url: string};
}

/** The addresses of package.json as a browser takes them. */
export function originOf(pjson: Interfaces.PJSON): Origin {
  const {repository, bugs} = pjson as unknown as Addresses;
  return {version: pjson.version, repository: repository.url.replace(/^git\+|\.git$/g, ''), bugs: bugs.url};
}
