import {setAt, type Tree, type Values} from '../../ground/tree.ts';
import {helmValue, readHelmSet} from '../../settings/escape-hatch.ts';
import {toYaml} from '../../values/document.ts';
import {missing} from '../../values/migrate/migrate-file.ts';

interface PastedCommand {
  words: readonly string[];
  /** Every value of an option that has one of these names. */
  valuesOf(...names: readonly string[]): string[];
  options: readonly string[];
}

/** Options without a value. */
const SWITCHES: Readonly<Record<string, RegExp>> = {
  docker:
    /^(-[ditP]+|--(detach|interactive|tty|rm|init|privileged|read-only|publish-all|no-healthcheck|quiet))$/,
  helm: /^(-i|--(install|create-namespace|wait|wait-for-jobs|atomic|rollback-on-failure|cleanup-on-fail|devel|debug|dry-run|force|re(use|set|set-then-reuse)-values|skip-crds|no-hooks|verify|dependency-update|generate-name|plain-http))$/,
};

/** A command of this tool, as a shell reads it, until it has `most` words; undefined for everything else. */
export function readCommand(
  text: string,
  tool: 'docker' | 'helm',
  most = Number.POSITIVE_INFINITY,
): PastedCommand | undefined {
  const line = text.replaceAll(/\\\r?\n/g, ' ').replace(/^\s*(\$\s+)?(sudo\s+)?/, '');
  if (!line.startsWith(`${tool} `)) return undefined;
  const rest = [...line.matchAll(/(?:"(?:[^"\\]|\\.)*"|'[^']*'|\\.|[^\s"'\\])+/g)]
    .slice(1)
    .map(([word]) =>
      word.replaceAll(
        /"((?:[^"\\]|\\.)*)"|'([^']*)'|\\(.)/g,
        (_, double?: string, single?: string, plain?: string) => {
          return (double?.replaceAll(/\\(["\\$`])/g, '$1') ?? single ?? plain) as string;
        },
      ),
    );
  const [words, found]: [string[], [string, string][]] = [[], []];
  while (rest.length > 0 && words.length < most) {
    const word = rest.shift() as string;
    const [, name, , value] = /^(--?[a-zA-Z][\w-]*)(=([\s\S]*))?$/.exec(word) ?? [];
    if (name === undefined) words.push(word);
    else found.push([name, value ?? (SWITCHES[tool]?.test(name) ? '' : (rest.shift() ?? ''))]);
  }
  const valuesOf = (...names: readonly string[]) =>
    found.flatMap(([name, value]) => (names.includes(name) ? [value] : []));
  return {words, valuesOf, options: found.map(([name]) => name)};
}

/** The values of a pasted `helm install` or `helm upgrade`; undefined for everything else. @throws ExpectedError without the chart version */
export function readHelmCommand(
  text: string,
  from: string | undefined,
): {yaml: string; from: string; notes: string[]} | undefined {
  const {words, valuesOf} = readCommand(text, 'helm') ?? {words: []};
  const [, chart, packed] =
    /(?:^|\/)(agent-(?:k8s|local|job))(?:-(\d+\.\d+\.\d+)\.tgz)?$/.exec(
      words.slice(1).at(-1) ?? '',
    ) ?? [];
  if (
    valuesOf === undefined ||
    !['install', 'upgrade', 'template'].includes(words[0] ?? '') ||
    chart === undefined
  )
    return undefined;
  const version = valuesOf('--version').at(-1) ?? packed;
  const add = `--from ${chart}@VERSION`;
  if (from === undefined && version === undefined)
    throw missing(
      `The command does not specify the version of ${chart}.`,
      [`Add the installed version: ${add}`],
      add,
    );
  const values: Values = {};
  const set = (pairs: readonly string[], convert: (value: string) => Tree): void => {
    for (const pair of readHelmSet(pairs)) {
      const [, path = '', value = ''] = /^((?:\\.|[^=\\])+)=([\s\S]*)$/.exec(pair) ?? [];
      const keys = path.split(/(?<!\\)\./).map((key) => key.replaceAll('\\', ''));
      setAt(values, keys, convert(value));
    }
  };
  set(valuesOf('--set'), helmValue);
  set(valuesOf('--set-string'), (value) => value);
  const hasFiles = valuesOf('-f', '--values').length > 0;
  return {
    yaml: toYaml(values, {header: [`Values of ${chart} ${version}.`]}),
    from: from ?? `${chart}@${version}`,
    notes: hasFiles
      ? ['Only --set and --set-string are migrated. Migrate the files of --values separately.']
      : [],
  };
}
