import {reportStartFailure} from './start-failure.ts';

/** Minimum version of Node.js; the build reads it from package.json. */
declare const NODE_FLOOR: string;

/** Node.js 10 can run this file, but not the rest of the program. */
export function withSupportedNode(start: () => Promise<unknown>): void {
  if (isNewEnough(process.versions.node, NODE_FLOOR)) {
    start().catch((error: unknown) => reportStartFailure(error, process.argv));
    return;
  }
  process.stderr.write(
    `Error: Node.js ${NODE_FLOOR} or newer is required. This is ${process.version} (${process.execPath}). ` +
      'Install a newer version (https://nodejs.org), then run the command again.\n',
  );
  process.exitCode = 1;
}

/** @internal */
export function isNewEnough(version: string, floor: string): boolean {
  const is = version.split('.').map(Number) as [number, number];
  const least = floor.split('.').map(Number) as [number, number];
  return is[0] > least[0] || (is[0] === least[0] && is[1] >= least[1]);
}
