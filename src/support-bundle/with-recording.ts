import type {ClusterApi} from '../ports/cluster-api.ts';
import type {Redaction} from './bundle.ts';
import {objectFiles} from './object-files.ts';
import type {Prepared} from './prepare.ts';
import type {Recording} from './record.ts';

type Streaming = Pick<ClusterApi, 'stream'>;

/** What is there now and what was seen before: objects that have gone, and logs as they were followed instead of read again. */
export function withRecording(
  prepared: Prepared,
  {objects, logs}: Recording,
  redaction: Redaction,
  api: Streaming,
): {prepared: Prepared; api: Streaming} {
  const there = new Set(prepared.scope.objects.map(({metadata}) => metadata.uid));
  const gone = objects.filter(({metadata}) => !there.has(metadata.uid));
  const followed = new Map(logs.map(({item, content}) => [item.path, content]));
  const files = new Set(logs.map(({item}) => item.file));
  return {
    prepared: {
      ...prepared,
      redaction,
      scope: {...prepared.scope, objects: [...prepared.scope.objects, ...gone]},
      texts: (hide) => [...prepared.texts(hide), ...objectFiles(gone, hide).map(({name, text}) => ({name: `gone/${name}`, text}))],
      logs: [...prepared.logs.filter(({file}) => !files.has(file)), ...logs.map(({item}) => item)],
    },
    api: {
      async stream(path, wish) {
        const content = followed.get(path);
        return content === undefined ? api.stream(path, wish) : {chunks: once(content), end: Promise.resolve(undefined)};
      },
    },
  };
}

async function* once(content: Buffer): AsyncGenerator<Buffer> {
  yield content;
}
