import {setAt, type Tree, type Values} from '../../ground/tree.ts';
import {helmValue, readHelmSet} from '../../settings/escape-hatch.ts';
import {missing} from '../../values/migrate/migrate-file.ts';
import {toYaml} from '../../values/yaml.ts';
import type {HostContainer} from './read-host.ts';

/** The words of a command, as a shell reads them. */
const wordsOf = (text: string): string[] =>
  [...text.replaceAll(/\\\r?\n/g, ' ').matchAll(/(?:"(?:[^"\\]|\\.)*"|'[^']*'|\\.|[^\s"'\\])+/g)].map(([word]) =>
    word.replaceAll(
      /"((?:[^"\\]|\\.)*)"|'([^']*)'|\\(.)/g,
      (_, double?: string, single?: string, plain?: string) => (double?.replaceAll(/\\(["\\$`])/g, '$1') ?? single ?? plain) as string,
    ),
  );

interface Line {
  words: string[];
  valuesOf(...names: string[]): string[];
  options: string[];
}

/** Options and words; `switches` are the options without a value. */
function read(all: readonly string[], switches: RegExp, isDone: (found: readonly string[]) => boolean = () => false): Line {
  const [rest, words, found]: [string[], string[], [string, string][]] = [[...all], [], []];
  while (rest.length > 0 && !isDone(words)) {
    const word = rest.shift() as string;
    const [, name, , value] = /^(--?[a-zA-Z][\w-]*)(=([\s\S]*))?$/.exec(word) ?? [];
    if (name === undefined) words.push(word);
    else found.push([name, value ?? (switches.test(name) ? '' : (rest.shift() ?? ''))]);
  }
  const valuesOf = (...names: string[]): string[] => found.flatMap(([name, value]) => (names.includes(name) ? [value] : []));
  return {words, valuesOf, options: found.map(([name]) => name)};
}

const SWITCHES_OF_RUN = /^(-[ditP]+|--(detach|interactive|tty|rm|init|privileged|read-only|publish-all|no-healthcheck|quiet))$/;
const READ =
  /^(-[euvmlditPhp]+|--(env|env-file|user|volume|memory|cpus|stop-timeout|pull|label|name|restart|hostname|detach|interactive|tty|rm|init|quiet|publish|log-.*|platform))$/;

/** A pasted `docker run`; undefined for everything else. */
export function readDockerRun(text: string): HostContainer | undefined {
  const [tool, verb, ...words] = wordsOf(text.replace(/^\s*(\$|sudo)\s+/, ''));
  if (tool !== 'docker' || verb !== 'run') return undefined;
  const {
    words: [image],
    valuesOf,
    options,
  } = read(words, SWITCHES_OF_RUN, (found) => found.length > 0);
  const pairs = (texts: string[]) => Object.fromEntries(texts.filter((each) => each.includes('=')).map((each) => each.split(/=([\s\S]*)/)));
  const last = (...names: string[]): string | undefined => valuesOf(...names).at(-1);
  const [user, cpus, memory, pull, stop] = [
    last('-u', '--user'),
    last('--cpus'),
    last('-m', '--memory'),
    last('--pull'),
    last('--stop-timeout'),
  ];
  return {
    ...{variables: pairs(valuesOf('-e', '--env')), labels: pairs(valuesOf('-l', '--label')), environmentFiles: valuesOf('--env-file')},
    mounts: valuesOf('-v', '--volume').map((each) => ({
      source: each.split(':')[0] ?? '',
      target: (each.split(':')[1] ?? '').replace(/\/$/, ''),
    })),
    unread: options.filter((name) => !READ.test(name)),
    ...(image === undefined ? {} : {image}),
    ...(user === undefined ? {} : {user}),
    ...(cpus === undefined ? {} : {cpus}),
    ...(memory === undefined ? {} : {memory}),
    ...(pull === undefined ? {} : {pull}),
    ...(stop === undefined ? {} : {stopSeconds: Number(stop)}),
  };
}

const SWITCHES_OF_HELM =
  /^(-i|--(install|create-namespace|wait|wait-for-jobs|atomic|rollback-on-failure|cleanup-on-fail|devel|debug|dry-run|force|reuse-values|reset-values|reset-then-reuse-values|skip-crds|no-hooks|verify|dependency-update|generate-name|plain-http))$/;

/** The values of a pasted `helm install` or `helm upgrade`; undefined for everything else. @throws ExpectedError without the chart version */
export function readHelmCommand(text: string, from: string | undefined): {yaml: string; from: string; notes: string[]} | undefined {
  const [tool, ...all] = wordsOf(text.replace(/^\s*\$\s+/, ''));
  const {words, valuesOf} = read(all, SWITCHES_OF_HELM);
  const [, chart, packed] = /(?:^|\/)(agent-(?:k8s|local|job))(?:-(\d+\.\d+\.\d+)\.tgz)?$/.exec(words.slice(1).at(-1) ?? '') ?? [];
  if (tool !== 'helm' || !['install', 'upgrade', 'template'].includes(words[0] ?? '') || chart === undefined) return undefined;
  const version = valuesOf('--version').at(-1) ?? packed;
  const add = `--from ${chart}@VERSION`;
  if (from === undefined && version === undefined)
    throw missing(`The command names no version of ${chart}.`, [`Add the installed version: ${add}`], add);
  const values: Values = {};
  const set = (pair: string, convert: (value: string) => Tree): void => {
    const [, path = '', value = ''] = /^((?:\\.|[^=\\])+)=([\s\S]*)$/.exec(pair) ?? [];
    setAt(
      values,
      path.split(/(?<!\\)\./).map((key) => key.replaceAll('\\', '')),
      convert(value),
    );
  };
  for (const pair of readHelmSet(valuesOf('--set'))) set(pair, helmValue);
  for (const pair of readHelmSet(valuesOf('--set-string'))) set(pair, (value) => value);
  const hasFiles = valuesOf('-f', '--values').length > 0;
  return {
    ...{yaml: toYaml(values, {header: [`Values of ${chart} ${version}.`]}), from: from ?? `${chart}@${version}`},
    notes: hasFiles ? ['Only --set and --set-string are migrated. Migrate the files of --values separately.'] : [],
  };
}
