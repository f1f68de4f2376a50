#!/usr/bin/env node
const [first, ...rest] = process.argv.slice(2);
if (first === '__complete') await (await import('../cli/complete.ts')).complete(rest, [], import.meta.url);
else await (await import('../cli/start.ts')).start(process.argv.slice(2), import.meta.url);

export {};
