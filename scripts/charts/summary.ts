import {existsSync, readdirSync, readFileSync} from 'node:fs';
import {join, relative} from 'node:path';
import {parse} from 'yaml';
import {addRelease, type UnpackedChart} from '../../src/charts/add-release.ts';
import {CHARTS, noteText} from '../../src/charts/charts.ts';
import type {ChartName} from '../../src/charts/releases/chart-name.ts';
import {knowsKey} from '../../src/charts/releases/keys.ts';
import {type ChartSchema, type Leaf, leavesOf} from '../../src/charts/releases/schema.ts';
import type {Target, UpstreamChange} from '../../src/charts/releases/target.ts';
import {within} from '../../src/charts/releases/versions.ts';
import {at, sameTree, spellPath, startsWith} from '../../src/ground/tree.ts';

/** What a reviewer of a new release looks at, as Markdown. `before` and `after` are the unpacked charts. */
export function summaryOf(
  schema: ChartSchema,
  chart: UnpackedChart,
  before: string | undefined,
  after: string,
): string {
  const {name, version, appVersion, kubeVersion} = chart.metadata;
  const former = schema['x-releases'].at(-1)?.version as string;
  const target: Target = {chart: name as ChartName, version, schema: addRelease(schema, chart)};
  const old = leavesOf(schema, former);
  const now = leavesOf(target.schema as ChartSchema, version);
  const lacking = (some: readonly Leaf[], others: readonly Leaf[]): Leaf[] =>
    some.filter(({path}) => !others.some((each) => sameTree(each.path, path)));
  const changed = now.flatMap(({path, default: is}) => {
    const was = old.find((each) => sameTree(each.path, path));
    return was === undefined || sameTree(was.default, is)
      ? []
      : [`\`${spellPath(path)}\`: ${JSON.stringify(was.default)} → ${JSON.stringify(is)}`];
  });
  const isRbac = (path: readonly string[]): boolean =>
    path[0] === 'rbac' || path[0] === 'serviceAccount';
  return [
    `## ${name} ${former} → ${version}\n`,
    `Agent ${appVersion}${kubeVersion === undefined ? '' : `, Kubernetes \`${kubeVersion}\``}.\n`,
    list('Chart changelog', notesIn(chart, 'artifacthub.io/changes')),
    list(
      'New keys',
      lacking(now, old).map(
        ({path, default: value}) => `\`${spellPath(path)}\`: ${JSON.stringify(value)}`,
      ),
    ),
    list(
      'Removed keys',
      lacking(old, now).map(({path}) => `\`${spellPath(path)}\``),
    ),
    list(
      `Keys that no template reads, for ignoredKeys in src/charts/${name}/versions.ts`,
      lacking(unreadKeys(now, after), before === undefined ? [] : unreadKeys(old, before)).map(
        ({path}) => `\`${spellPath(path)}\``,
      ),
    ),
    list(
      'Changed defaults',
      changed.filter((line) => !line.startsWith('`rbac.')),
    ),
    list('Images', imagesIn(chart, now)),
    list('RBAC', [
      ...changed.filter((line) => isRbac(at(line.slice(1)))),
      ...roleTemplates(before, after),
    ]),
    list('Changed templates', changedFiles(before, after)),
    list('Rows to look at', rowsToCheck(target, lacking(now, old))),
  ]
    .filter((section) => section !== '')
    .join('\n');
}

const list = (title: string, lines: readonly string[]): string =>
  lines.length === 0
    ? ''
    : `### ${title}\n\n${[...new Set(lines)].map((line) => `- ${line}`).join('\n')}\n`;

/** A list in the annotations of Chart.yaml. */
function notesIn({metadata}: UnpackedChart, annotation: string): string[] {
  const {annotations = {}} = metadata as {annotations?: Record<string, string>};
  const found = (parse(annotations[annotation] ?? '') ?? []) as readonly (UpstreamChange & {
    image?: string;
  })[];
  return found.map((each) => (each.image === undefined ? noteText(each) : `\`${each.image}\``));
}

/** From the annotations; otherwise the default repositories. */
function imagesIn(chart: UnpackedChart, leaves: readonly Leaf[]): string[] {
  const listed = notesIn(chart, 'artifacthub.io/images');
  return listed.length > 0
    ? listed
    : leaves.flatMap(({path, default: value}) =>
        path.at(-1) === 'repository' ? [`\`${value}\``] : [],
      );
}

/** Rows whose keys are gone, and new keys that no row writes. */
function rowsToCheck(target: Target, added: readonly Leaf[]): string[] {
  const rows = CHARTS[target.chart].rows.filter((row) => within(target.version, row.in));
  return [
    ...rows.flatMap(({setting, in: range, paths}) => {
      const gone = paths.filter((path) => !knowsKey(target, path));
      return gone.length === 0
        ? []
        : [
            `\`--${setting.id}\` (${range ?? 'all versions'}) writes ${gone.map((path) => `\`${spellPath(path)}\``).join(', ')}, which is gone`,
          ];
    }),
    ...added
      .filter(({path}) => !rows.some(({paths}) => paths.some((each) => startsWith(path, each))))
      .map(({path}) => `no row writes \`${spellPath(path)}\``),
  ];
}

/** Keys without a reference in the templates to themselves or to a map around them. `{{ $task := .Values.task }}` is a name for a map, not a reference. */
function unreadKeys(leaves: readonly Leaf[], directory: string): Leaf[] {
  const text = [...templatesIn(directory).values()].join('\n');
  const names = new Map([['', ['']]]);
  const body = text.replaceAll(
    /(\$\w+)\s*:=\s*\$?\.Values((?:\.\w+)*)(?=\s*-?\}\})/g,
    (_, name: string, path: string) => {
      names.set(name, [...(names.get(name) ?? []), path]);
      return '';
    },
  );
  const references = [...body.matchAll(/(?:\$?\.Values|(\$\w+))((?:\.\w+)+)/g)].flatMap(
    ([, name = '', path = '']) =>
      (names.get(name) ?? []).map((above) => `${above}${path}`.slice(1)),
  );
  // A map that is passed on under its name may be read as a whole.
  const whole = [...body.matchAll(/(\$\w+)(?![\w.])/g)].flatMap(([, name = '']) =>
    (names.get(name) ?? []).map((path) => path.slice(1)),
  );
  const read = new Set([...references, ...whole]);
  return leaves.filter(
    ({path}) => !path.some((_, index) => read.has(path.slice(0, index + 1).join('.'))),
  );
}

const templatesIn = (directory: string | undefined): Map<string, string> => {
  const folder = join(directory ?? '', 'templates');
  const entries =
    directory !== undefined && existsSync(folder)
      ? readdirSync(folder, {recursive: true, withFileTypes: true})
      : [];
  const paths = entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  return new Map(paths.map((path) => [relative(folder, path), readFileSync(path, 'utf8')]));
};

function changedFiles(before: string | undefined, after: string): string[] {
  const old = templatesIn(before);
  const now = templatesIn(after);
  if (old.size === 0) return [];
  return [...new Set([...old.keys(), ...now.keys()])].toSorted().flatMap((name) => {
    if (old.get(name) === now.get(name)) return [];
    return [`\`${name}\`${old.has(name) ? (now.has(name) ? '' : ' (removed)') : ' (new)'}`];
  });
}

const roleTemplates = (before: string | undefined, after: string): string[] =>
  changedFiles(before, after).filter((line) =>
    /kind: (Cluster)?Role/.test(templatesIn(after).get(line.split('`')[1] as string) ?? ''),
  );
