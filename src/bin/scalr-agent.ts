#!/usr/bin/env node
import {onNewNode} from '../cli/node-floor.ts';

onNewNode(() => import('../cli/launch.js').then(({launch}) => launch(process.argv.slice(2))));
