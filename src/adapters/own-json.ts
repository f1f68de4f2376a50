import {readFileSync} from 'node:fs';

/** A JSON file of the program itself, without which nothing can start. */
export const ownJson = (place: URL): unknown => JSON.parse(readFileSync(place, 'utf8'));
