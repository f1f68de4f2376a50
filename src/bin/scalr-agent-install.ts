#!/usr/bin/env node
import {withSupportedNode} from '../cli/node-version.ts';

/** `npx scalr-agent-install`: the main entry point. */
withSupportedNode(() => {
  const argv = process.argv.slice(2);
  return import('../cli/launch.js').then(({launch}) => launch(argv[0] === '--version' ? argv : ['install', ...argv]));
});
