import {maskSecrets} from './errors.ts';
import {isMap, mapBelow, type Tree, type Values} from './tree.ts';

export const HIDDEN = '[hidden]';

/** Boolean settings of the agent, which a diff must show. */
const PLAIN_VARIABLES: ReadonlySet<unknown> = new Set(['SCALR_AGENT_DEBUG']);

/** The charts take tokens and keys inline, and environment variables may hold anything. */
export const hideSecretValues = (values: Values): Values => hideIn(values) as Values;

function hideIn(tree: Tree): Tree {
  if (typeof tree === 'string') return maskSecrets(tree);
  const variable = isMap(tree) && typeof tree['name'] === 'string' ? tree['name'] : undefined;
  return mapBelow(tree, (below, key) => {
    const isOfVariable =
      variable !== undefined && key === 'value' && !PLAIN_VARIABLES.has(variable);
    if (isText(below) && (SECRET_KEY.test(key) || isOfVariable)) return HIDDEN;
    return /env$/i.test(key) && isMap(below) ? hideAll(below) : hideIn(below);
  });
}

const isText = (tree: Tree): boolean =>
  (typeof tree === 'string' && tree !== '') || typeof tree === 'number';

const hideAll = (variables: Values): Values =>
  Object.fromEntries(
    Object.entries(variables).map(([name, value]) => [
      name,
      PLAIN_VARIABLES.has(name) && isText(value) ? value : HIDDEN,
    ]),
  );

const SECRET_KEY = /^(token|client_?key|.*password|.*private_?key)$/i;
