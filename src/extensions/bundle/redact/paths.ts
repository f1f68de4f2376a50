import type {Extent} from './rule.ts';

/** Directories in which programs keep files: no base64 begins like this by chance. */
const ROOTS =
  '__w|Applications|Library|Users|Volumes|bin|boot|builds|dev|etc|github|home|lib(?:32|64)?|media|mnt|nix|opt|private|proc|repo|root|run|sbin|scratch|snap|srv|sys|tmp|usr|var|work|workspaces?';
const NAME = String.raw`[\w.@+~-]{1,255}`;
/** The characters of a path, and what a path is. An escape before it ends in a letter: `\n/tmp/x`. */
const PATHS: readonly (readonly [character: RegExp, path: RegExp])[] = [
  [
    /[\w.@+~/-]/,
    new RegExp(
      String.raw`^[nrt]?(?:/(?:${ROOTS})|~|\.{1,2}|(?:${NAME})?(?:/${NAME})*/node_modules)(?:/${NAME})+/?$`,
    ),
  ],
  [
    /[\w.@+~:\\-]/,
    /^[A-Za-z]:\\+(?:ProgramData|Temp|Users|Windows)(?:\\+[\w.@+~-]{1,255})+[:\\]*$/,
  ],
];
const LONGEST = 1024;

/** Whether a place is in the path of a file, whose directories can have random names: `/tmp/agent-Xw3f9Q/kubeconfig`. */
export function isInPath(text: string, {start, end}: Extent): boolean {
  if (end - start > LONGEST) return false;
  return PATHS.some(([character, path]) => {
    let first = start;
    let last = end;
    while (start - first < LONGEST && character.test(text.charAt(first - 1))) first -= 1;
    while (last - end < LONGEST && character.test(text.charAt(last))) last += 1;
    return path.test(text.slice(first, last));
  });
}
