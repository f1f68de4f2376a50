import {readFileSync} from 'node:fs';

/** The text of a file that is part of the package. @throws Error without it */
export const ownText = (path: string): string => readFileSync(path, 'utf8');

/** A JSON file that is part of the package. @throws Error without it */
export const ownJson = (path: string): unknown => JSON.parse(ownText(path));
