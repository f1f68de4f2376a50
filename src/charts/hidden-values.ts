import {maskSecrets} from '../ground/errors.ts';
import {isMap, type Tree, type Values} from '../ground/tree.ts';

export const HIDDEN = '[hidden]';

const SECRET_KEY = /^(token|client_?key|.*password|.*private_?key)$/i;

/** Boolean settings of the agent, which a diff must show. */
const PLAIN_VARIABLES: ReadonlySet<unknown> = new Set(['SCALR_AGENT_DEBUG']);

/** The charts take tokens and keys inline, and environment variables may hold anything. */
export const hideSecretValues = (values: Values): Values => hideIn(values) as Values;

function hideIn(tree: Tree): Tree {
  if (typeof tree === 'string') return maskSecrets(tree);
  if (Array.isArray(tree)) return tree.map(hideIn);
  if (!isMap(tree)) return tree;
  const isVariable = typeof tree['name'] === 'string';
  return Object.fromEntries(
    Object.entries(tree).map(([key, below]) => {
      const isOfVariable = isVariable && key === 'value' && !PLAIN_VARIABLES.has(tree['name']);
      const isSecret = isText(below) && (SECRET_KEY.test(key) || isOfVariable);
      return [key, isSecret ? HIDDEN : /env$/i.test(key) && isMap(below) ? hideAll(below) : hideIn(below)];
    }),
  );
}

const isText = (tree: Tree): boolean => (typeof tree === 'string' && tree !== '') || typeof tree === 'number';

const hideAll = (variables: Values): Values =>
  Object.fromEntries(Object.entries(variables).map(([name, value]) => [name, PLAIN_VARIABLES.has(name) && isText(value) ? value : HIDDEN]));
