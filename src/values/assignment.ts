import {parse} from 'yaml';
import {CHARTS} from '../charts/charts.ts';
import {schemaAt} from '../charts/releases/keys.ts';
import type {Target} from '../charts/releases/target.ts';
import {hasKey} from '../charts/support.ts';
import {CHART_REPOSITORY, helmCommand} from '../ground/command-line.ts';
import {
  getAt,
  leafPaths,
  type Path,
  sameTree,
  setAt,
  spellPath,
  type Tree,
  type Values,
} from '../ground/tree.ts';
import {spell} from '../settings/define.ts';
import {InvalidValue} from '../settings/kinds/kind.ts';
import {checkKeys, isTypeError} from './rules/check-keys.ts';
import {suggestKey} from './rules/suggest-key.ts';

/** One `--set path=value` with the type of its key; `validate` checks the rest. @throws InvalidValue */
export function parseAssignment(
  text: string,
  value: string,
  target: Target,
): {path: Path; value: Tree} {
  const path = text.split(/(?<!\\)\./).map((key) => key.replaceAll('\\.', '.'));
  const node = schemaAt(target, path);
  if (node === undefined) throw unknownKey(path, target);
  const tree =
    [node.type].flat().join() === 'string' && value !== 'null' ? value : parseTree(text, value);
  const values: Values = {};
  setAt(values, path, tree);
  refuseSecretsIn(values, target);
  const error = checkKeys({values, locate: () => undefined, written: () => undefined}, target).find(
    isTypeError,
  );
  if (error)
    throw new InvalidValue(
      `"${error.subject.path}": ${error.message.replace(/\.$/, '')}`,
      'Set a value of the type that the key requires',
    );
  return {path, value: tree};
}

function unknownKey(path: Path, target: Target): InvalidValue {
  const {message, suggestion} = suggestKey(path, {}, target);
  const flag = flagFor(path, target);
  const list = [
    'show',
    'values',
    target.chart,
    '--repo',
    CHART_REPOSITORY,
    '--version',
    target.version,
  ];
  const other =
    suggestion === undefined
      ? `List the keys: ${helmCommand({}, ...list)}`
      : `Did you mean ${suggestion}?`;
  return new InvalidValue(message.replace(/\.$/, ''), flag === undefined ? other : `Use ${flag}`);
}

/** The flag that sets a key, which keys of older versions can have too. */
function flagFor(path: Path, target: Target): string | undefined {
  if (path[1] === 'auth') return '--token-file or SCALR_AGENT_TOKEN';
  const {rows} = CHARTS[target.chart];
  const row = rows.find(({paths}) => paths.some((each) => sameTree(each, path)));
  return row && hasKey(target, row.setting) ? spell(row.setting) : undefined;
}

function parseTree(path: string, text: string): Tree {
  try {
    return parse(text, {logLevel: 'error'}) as Tree;
  } catch {
    throw new InvalidValue(
      `cannot parse the value of "${path}"`,
      `Write lists and maps as JSON: --set '${path}=["a"]'`,
    );
  }
}

/** Secrets belong in a Secret and never in values.yaml. @throws InvalidValue */
export function refuseSecretsIn(values: Values, target: Target): void {
  for (const keys of leafPaths(values)) {
    const path = spellPath(keys);
    const tree = getAt(values, keys);
    const isMirrorToken =
      path.endsWith('providerNetworkMirrors') && /"token":/.test(JSON.stringify(tree));
    if (tree === '' || (schemaAt(target, keys)?.['x-secret'] !== true && !isMirrorToken)) continue;
    throw new InvalidValue(
      `"${path}" is a secret, and values.yaml stores plain text`,
      /token$/i.test(path)
        ? 'Remove it, and set SCALR_AGENT_TOKEN or --token-file: the token is then stored in a Secret'
        : 'Remove it, and use --client-cert-file and --client-key-file, which store it in a Secret',
    );
  }
}
