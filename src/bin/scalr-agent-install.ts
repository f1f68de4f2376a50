#!/usr/bin/env node
import {onNewNode} from '../cli/node-floor.ts';

/** `npx scalr-agent-install`: the front door. */
onNewNode(() => require('../cli/launch.js').launch(['install', ...process.argv.slice(2)]));
