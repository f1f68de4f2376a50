#!/usr/bin/env node
import {withSupportedNode} from '../cli/node-version.ts';

withSupportedNode(() =>
  import('../cli/launch.js').then(({launch}) => launch(process.argv.slice(2))),
);
