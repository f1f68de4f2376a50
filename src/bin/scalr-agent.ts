#!/usr/bin/env node
import {onNewNode} from '../cli/node-floor.ts';

onNewNode(() => require('../cli/launch.js').launch(process.argv.slice(2)));
