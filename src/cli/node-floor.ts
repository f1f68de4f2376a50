/** The oldest Node.js that runs the program; the build takes it from package.json. */
declare const NODE_FLOOR: string;

/** Node.js 10 can run this, but not the rest of the program. */
export function onNewNode(start: () => unknown): void {
  if (isNewEnough(process.versions.node, NODE_FLOOR)) {
    start();
    return;
  }
  process.stderr.write(
    `Error: scalr-agent needs Node.js ${NODE_FLOOR} or newer; this is ${process.version}, ${process.execPath}. ` +
      'Install a newer one (https://nodejs.org) and run the same line again.\n',
  );
  process.exitCode = 1;
}

/** @internal */
export function isNewEnough(version: string, floor: string): boolean {
  const is = version.split('.').map(Number) as [number, number];
  const least = floor.split('.').map(Number) as [number, number];
  return is[0] > least[0] || (is[0] === least[0] && is[1] >= least[1]);
}
