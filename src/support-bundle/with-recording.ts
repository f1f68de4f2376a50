import type {ApiReader} from '../kubernetes/client.ts';
import type {ApiError, LogStream} from '../ports/log-stream.ts';
import type {Redaction} from './bundle.ts';
import type {LogItem} from './log-items.ts';
import {objectFiles} from './object-files.ts';
import type {Prepared} from './prepare.ts';
import type {Recorded, Recording} from './record.ts';

type Streaming = Pick<ApiReader, 'stream'>;

/** What is there now and what was seen before: objects that have gone, and logs as they were followed instead of read again. */
export function withRecording(
  prepared: Prepared,
  {objects, logs, gaps}: Recording,
  redaction: Redaction,
  api: Streaming,
): {prepared: Prepared; api: Streaming} {
  const there = new Set(prepared.scope.objects.map(({metadata}) => metadata.uid));
  const gone = objects.filter(({metadata}) => !there.has(metadata.uid));
  const followed = new Map(logs.map((log) => [log.item.path, log]));
  const files = new Set(logs.map(({item}) => item.file));
  return {
    prepared: {
      ...prepared,
      redaction,
      scope: {...prepared.scope, objects: [...prepared.scope.objects, ...gone]},
      texts: (hideIn) => [...prepared.texts(hideIn), ...objectFiles(gone, hideIn, (name) => `gone/${name}`)],
      logs: [...prepared.logs.filter(({file}) => !files.has(file)), ...logs.map(cutItem)],
      gaps: [...prepared.gaps, ...gaps],
    },
    api: {
      stream: async (path, wish) => {
        const log = followed.get(path);
        return log === undefined ? api.stream(path, wish) : replayed(log, (rest) => api.stream(rest, wish));
      },
    },
  };
}

function cutItem({item, content}: Recorded): LogItem {
  const cut = content.cut();
  return cut === undefined ? item : {...item, cut: cut.bytes};
}

/** What was followed, and what was said since. */
function replayed({item, content, goesOnAt, trouble}: Recorded, read: (path: string) => ReturnType<Streaming['stream']>): LogStream {
  let settle: (trouble: ApiError | undefined) => void = () => undefined;
  const end = new Promise<ApiError | undefined>((resolve) => {
    settle = resolve;
  });
  async function* chunks(): AsyncGenerator<Buffer> {
    let isMissing = trouble;
    try {
      yield* content.pieces();
      if (goesOnAt === undefined) return;
      const rest = await read(goesOnAt.from(item.path));
      if (rest.trouble === undefined) {
        yield* goesOnAt.news(rest.chunks);
        yield goesOnAt.rest();
        isMissing = await rest.end;
      }
      // Its pod went with the end of the recording.
      else if (rest.trouble.kind !== 'not-found') isMissing = rest.trouble;
    } finally {
      settle(isMissing);
    }
  }
  return {chunks: chunks(), end};
}
