import {manyFiles} from './many-files.ts';
import {manyLogs} from './many-logs.ts';
import {memory} from './memory.ts';
import {redaction} from './redaction.ts';
import {startup} from './startup.ts';
import {wholeBundle} from './whole-bundle.ts';

/** `npm run bench [rounds]` */
const rounds = Number(process.argv[2] ?? 15);
startup(rounds);
await manyFiles(Math.ceil(rounds / 5));
await memory();
await manyLogs(Math.ceil(rounds / 5));
await redaction(Math.ceil(rounds / 3));
await wholeBundle(Math.ceil(rounds / 3));
