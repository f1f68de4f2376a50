#!/usr/bin/env node
import {start} from '../cli/start.ts';

/** `npx scalr-agent-install`: the front door. */
await start(['install', ...process.argv.slice(2)], import.meta.url);
