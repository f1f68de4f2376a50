#!/usr/bin/env node
import {withSupportedNode} from '../cli/node-version.ts';

/** `npx scalr-agent-install`: installs an agent, or runs the command that comes first, such as `status`. */
withSupportedNode(() => {
  const argv = process.argv.slice(2);
  // The command install has no arguments without a dash.
  const isCommand = /^(--version|-[vV])$/.test(argv[0] ?? '') || /^[a-z]/.test(argv[0] ?? '');
  return import('../cli/launch.js').then(({launch}) =>
    launch(isCommand ? argv : ['install', ...argv]),
  );
});
