import {isMap, type Tree} from '../../ground/tree.ts';

/** What only its engine knows; a template, so that its content is not judged. */
export const UNKNOWN_TEXT = '{{ unknown }}';

/** True for what the engine still replaces, anywhere in the value. */
export function hasTemplate(tree: Tree | undefined): boolean {
  if (typeof tree === 'string') return /\$\{[^}]*\}|\{\{.*\}\}/s.test(tree);
  if (Array.isArray(tree)) return tree.some(hasTemplate);
  return isMap(tree) && Object.values(tree).some(hasTemplate);
}
