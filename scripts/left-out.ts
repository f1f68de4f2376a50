/**
 * Stands in for packages that oclif loads and this program never calls: globs find commands without a manifest and plugins by name, and
 * spinners belong to progress that oclif draws itself.
 */
export function glob(): never {
  throw new Error('This package is not bundled: scripts/left-out.ts');
}
export const minimatch = (): never => glob();
const spinner = {frames: ['']};
// biome-ignore lint/style/noDefaultExport: oclif takes the default export of cli-spinners
export default {dots2: spinner, line: spinner};
