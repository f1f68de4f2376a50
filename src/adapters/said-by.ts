import {PassThrough, pipeline, type Readable} from 'node:stream';

/** What a process says, for whoever reads it later: Node.js lets go what is unread in its own streams when the process ends. */
export const saidBy = (output: Readable): Readable => pipeline(output, new PassThrough(), () => undefined);
