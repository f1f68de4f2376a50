import {zipArchives} from '../../../src/ground/system/zip-archive.ts';

/** `makes-archive.cli.ts PATH`: the same archive every time. */
const archive = await zipArchives.create(process.argv[2] as string);
await archive.add('b.log', Buffer.alloc(1024 * 1024, 'a line of a log\n'));
await archive.add('a.log', Buffer.from('a'));
await archive.close({manifest: (entries) => JSON.stringify(entries)});
