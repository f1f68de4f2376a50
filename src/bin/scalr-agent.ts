#!/usr/bin/env node
import {start} from '../cli/start.ts';

await start(process.argv.slice(2), import.meta.url);
