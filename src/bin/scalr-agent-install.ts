#!/usr/bin/env node
const argv = process.argv.slice(2);
/** `npx scalr-agent-install`: the front door. */
if (argv[0] === '__complete') await (await import('../cli/complete.ts')).complete(argv.slice(1), ['install'], import.meta.url);
else await (await import('../cli/start.ts')).start(['install', ...argv], import.meta.url);

export {};
