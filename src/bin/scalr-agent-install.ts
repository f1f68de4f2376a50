#!/usr/bin/env node
import {onNewNode} from '../cli/node-floor.ts';

/** `npx scalr-agent-install`: the front door. */
onNewNode(() => {
  const argv = process.argv.slice(2);
  return import('../cli/launch.js').then(({launch}) => launch(argv[0] === '--version' ? argv : ['install', ...argv]));
});
