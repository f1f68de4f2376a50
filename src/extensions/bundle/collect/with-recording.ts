import type {ApiReader} from '../../../cluster/kubernetes/client.ts';
import type {ReadError} from '../../../ground/fact.ts';
import type {LogStream} from '../../../ground/system/system.ts';
import {knownSecretsOf} from '../redact/find-secrets.ts';
import type {RecordedLog} from './follow-log.ts';
import type {PreparedBundle} from './prepare.ts';
import {objectFiles} from './read-objects.ts';
import type {Recording} from './record.ts';

type LogApi = Pick<ApiReader, 'stream'>;

/** Adds what was recorded: deleted objects, and followed logs instead of a second read. */
export function withRecording(
  prepared: PreparedBundle,
  {objects, logs, secrets, gaps}: Recording,
): PreparedBundle {
  const {api} = prepared;
  const existing = new Set(prepared.scope.objects.map(({metadata}) => metadata.uid));
  const gone = objects.filter(({metadata}) => !existing.has(metadata.uid));
  const recorded = new Map(logs.map((log) => [log.item.path, log]));
  const files = new Set(logs.map(({item}) => item.file));
  return {
    ...prepared,
    scope: {...prepared.scope, objects: [...prepared.scope.objects, ...gone]},
    texts: (hideIn) => [
      ...prepared.texts(hideIn),
      ...objectFiles(gone, hideIn, (name) => `gone/${name}`),
    ],
    logs: [
      ...prepared.logs.filter(({file}) => !files.has(file)),
      ...logs.map(({item, content: {cut}}) => (cut > 0 ? {...item, cut} : item)),
    ],
    // Runs create Secrets that did not exist at the start.
    knownSecrets: [...prepared.knownSecrets, ...knownSecretsOf(secrets, objects)],
    gaps: [...prepared.gaps, ...gaps],
    api: {
      stream: async (path, options) => {
        const log = recorded.get(path);
        return log === undefined
          ? api.stream(path, options)
          : replay(log, (rest) => api.stream(rest, options));
      },
    },
  };
}

/** The kept part of a log, and new lines since. */
function replay(
  {item, content, rest, error}: RecordedLog,
  read: (path: string) => ReturnType<LogApi['stream']>,
): LogStream {
  let settle: (error: ReadError | undefined) => void = () => undefined;
  const end = new Promise<ReadError | undefined>((resolve) => {
    settle = resolve;
  });
  async function* chunks(): AsyncGenerator<Buffer> {
    let missing = error;
    try {
      yield* content.chunks();
      if (rest === undefined) return;
      const stream = await read(rest.from(item.path));
      if (stream.error === undefined) {
        yield* rest.news(stream.chunks);
        yield rest.rest();
        missing = await stream.end;
      }
      // The pod was deleted at the end of the recording.
      else if (stream.error.kind !== 'not-found') missing = stream.error;
    } finally {
      settle(missing);
    }
  }
  return {chunks: chunks(), end};
}
