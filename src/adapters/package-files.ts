import {readFileSync} from 'node:fs';

/** Text of a file in the package. @throws Error if it is missing */
export const readPackageText = (path: string): string => readFileSync(path, 'utf8');

/** JSON file in the package. @throws Error if it is missing */
export const readPackageJson = (path: string): unknown => JSON.parse(readPackageText(path));
