import {PassThrough, pipeline, type Readable} from 'node:stream';

/** Buffers the output of a process for a later reader: Node.js drops unread data of its own streams when the process exits. */
export const bufferedOutput = (output: Readable): Readable => pipeline(output, new PassThrough(), () => undefined);
