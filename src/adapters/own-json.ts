import {readFileSync} from 'node:fs';

/** A JSON file of the program itself, without which nothing can start. */
export const ownJson = (path: string): unknown => JSON.parse(readFileSync(path, 'utf8'));
