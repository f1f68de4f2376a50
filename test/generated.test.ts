import {readdirSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {CHARTS} from '../src/charts/charts.ts';
import {KNOWN_PROBLEMS} from '../src/charts/known-problems.ts';
import {chartSchema} from '../src/charts/releases/schema.ts';
import {newestOf} from '../src/charts/releases/target.ts';
import {hasKey, scopeOf} from '../src/charts/support.ts';
import {CAUSES} from '../src/checks/diagnose/explain.ts';
import {CHECKS} from '../src/checks/preflight/run-preflight.ts';
import {MACHINE_CHECKS} from '../src/extensions/machine/preflight/machine-checks.ts';
import {explanations} from '../src/findings/catalog.ts';
import {ERROR_CODES, ExitCode} from '../src/ground/errors.ts';
import type {Setting} from '../src/settings/define.ts';
import {httpsProxy, workloadIdentity} from '../src/settings/network.ts';
import {concurrency} from '../src/settings/purpose.ts';
import examples from '../templates/findings/examples.json' with {type: 'json'};
import {adviceExamples} from './docs/advice-examples.ts';
import {checkExamples} from './docs/check-examples.ts';
import {codesPage, explanationsOf} from './docs/codes-page.ts';
import {commandPage} from './docs/command-page.ts';
import {commands, root, words} from './docs/commands.ts';
import {ENTRIES, errorExamples, errorsPage} from './docs/errors/page.ts';
import {exitRows, exitRowsOf, MEANINGS, statusesNamed, statusesOf} from './docs/exit-codes.ts';
import {exampleOf, FOUND_CODES, findingsPage} from './docs/findings-page.ts';
import {cacheTable, chartChangesTable, hostsTable} from './docs/guide-tables.ts';
import {ignoredTable} from './docs/ignored-table.ts';
import {indexPage} from './docs/index-page.ts';
import {knownProblemsTable} from './docs/known-problems-table.ts';
import {table} from './docs/markdown.ts';
import {permissionsTables} from './docs/permissions-tables.ts';
import {ALL_CHECKS, preflightPage} from './docs/preflight-page.ts';
import {reachTable} from './docs/reach-table.ts';
import {rowsTable} from './docs/rows-table.ts';
import {accepts, settings} from './docs/settings.ts';
import {settingsPage} from './docs/settings-page.ts';
import {CHART_NAMES} from './support/versions.ts';

/** Files that follow from the code. */
async function expectFile(path: string, content: string): Promise<void> {
  try {
    await expect(content).toMatchFileSnapshot(join(root, path));
  } catch (error) {
    (error as Error).message +=
      `\nWrite ${path} anew with npx vitest run test/generated.test.ts -u, and review the diff.`;
    throw error;
  }
}

const between = (text: string, mark: string, content: string): string =>
  text.replace(
    new RegExp(`(<!-- ${mark} -->\\n)[\\s\\S]*?(<!-- ${mark}stop -->)`),
    (_, begin, end) => `${begin}${content}\n${end}`,
  );

/** Codes in the source of validate that are no findings, those that take a chart at hand, and the one of a bug. */
const ELSEWHERE: ReadonlySet<string> = new Set([
  ...ERROR_CODES,
  'REFUSED_BY_CHART',
  'UNCONFIRMED_KEY',
  'CHECK_FAILED',
  'QUOTE_DOUBLE',
  'BLOCK_FOLDED',
  'BLOCK_LITERAL',
  'SYS_ADMIN',
  'CAP_SYS_ADMIN',
]);

const codesIn = (file: string): string[] =>
  [
    ...readFileSync(join(root, 'src/values/validate', file), 'utf8').matchAll(
      /'([A-Z]+(?:_[A-Z0-9]+)+)'/g,
    ),
  ].map(([, code]) => code as string);

test('templates/findings/examples.json has what the program says', async () => {
  const ofValues = FOUND_CODES.map((code) => [code, exampleOf(code)] as const);
  const known = new Set(explanations().map(({code}) => code));
  const ofAdvice = Object.entries(await adviceExamples()).filter(([code]) => known.has(code));
  const fresh = {
    ...Object.fromEntries(ofAdvice),
    ...Object.fromEntries(ofValues),
    ...(await errorExamples()),
    ...(await checkExamples()),
  };
  // The catalog and its pages get them at once, so that one run with -u writes all files.
  Object.assign(examples, fresh);
  await expectFile(
    'templates/findings/examples.json',
    `${JSON.stringify(fresh, Object.keys(fresh).toSorted(), 2)}\n`,
  );
});

test('README.md counts what the program knows, and lists every chart version', async () => {
  const charts = CHART_NAMES.map((name) => ({name, releases: chartSchema(name)['x-releases']}));
  const versions = charts.map(({name, releases}) => [
    name,
    `${releases[0]?.version} to ${releases.at(-1)?.version}`,
    String(releases.length),
  ]);
  const breaking = Object.values(KNOWN_PROBLEMS).flatMap((problems) =>
    problems.filter(
      ({verdict, reason}) => verdict === 'error' && !reason.startsWith('According to'),
    ),
  );
  const numbers = [
    `[${charts.flatMap(({releases}) => releases).length} chart releases](docs/charts/README.md), with every key`,
    `[${CHECKS.length + MACHINE_CHECKS.length} checks](docs/preflight.md) before an install`,
    `[${explanationsOf('causes.md').length} causes](docs/causes.md) of failures, with their remedies`,
    `[${breaking.length} upgrades](docs/charts/upgrades.md) known to fail or lose data with Helm alone`,
  ];
  const readme = readFileSync(join(root, 'README.md'), 'utf8');
  for (const mark of ['numbers', 'versions']) expect(readme).toContain(`<!-- ${mark} -->`);
  const counted = between(readme, 'numbers', numbers.join(' · '));
  await expectFile(
    'README.md',
    between(counted, 'versions', table(['Chart', 'Versions', 'Releases'], versions)),
  );
});

describe('docs/', () => {
  test.each(
    commands.map((each) => [each.id, each] as const),
  )('commands/%s.md describes the command', async (_, documented) => {
    await expectFile(`docs/commands/${documented.file}.md`, commandPage(documented));
  });

  test.each(
    commands.map(({file}) => file),
  )('commands/%s.md describes every key of --json', (file) => {
    const page = readFileSync(join(root, `docs/commands/${file}.md`), 'utf8');
    const rows = (page.split('\n## JSON\n')[1] ?? '').match(/^\| `.*/gm) ?? [];
    expect(rows.filter((row) => /\|\s*\|$/.test(row) && !row.includes('always `'))).toEqual([]);
  });

  test('no page exists for a removed command', () => {
    const pages = commands.map(({file}) => `${file}.md`);
    expect(readdirSync(join(root, 'docs/commands')).toSorted()).toEqual(pages);
    expect(pages).toEqual(expect.arrayContaining(readdirSync(join(root, 'templates/commands'))));
  });

  test.each(
    CHART_NAMES,
  )('charts/%s.md lists the keys of flags, which pods a key reaches, and keys without effect', async (chart) => {
    const page = `docs/charts/${chart}.md`;
    const reach = between(readFileSync(join(root, page), 'utf8'), 'reach', reachTable(chart));
    const ignored = between(reach, 'ignored', ignoredTable(chart));
    await expectFile(page, between(ignored, 'rows', rowsTable(chart)));
  });

  test('guide pages hold tables of facts', async () => {
    const tables: Readonly<Record<string, Readonly<Record<string, string>>>> = {
      'storage.md': {caches: await cacheTable()},
      'install-and-upgrade.md': {'chart-changes': chartChangesTable()},
      'network.md': {
        hosts: await hostsTable({url: 'https://acme.scalr.io', chart: 'agent-job'}),
        'vcs-hosts': await hostsTable({
          url: 'https://acme.scalr.io',
          chart: 'agent-local',
          purpose: 'vcs',
        }),
      },
    };
    for (const [name, marks] of Object.entries(tables)) {
      const page = `docs/guide/${name}`;
      const text = readFileSync(join(root, page), 'utf8');
      for (const mark of Object.keys(marks)) expect(text).toContain(`<!-- ${mark} -->`);
      await expectFile(
        page,
        Object.entries(marks).reduce((all, [mark, content]) => between(all, mark, content), text),
      );
    }
  });

  test('the guide lists the charts that accept each workload identity', () => {
    const page = readFileSync(join(root, 'docs/guide/identity.md'), 'utf8');
    const rows = [...page.matchAll(/^\| `([a-z]\S*)` \|.*\| ([^|]+) \|$/gm)];
    expect(rows.length).toBeGreaterThan(3);
    for (const [, kind, charts] of rows) {
      const taken = CHART_NAMES.filter((name) => accepts(name, workloadIdentity as Setting, kind));
      expect(charts, kind).toBe(taken.length === CHART_NAMES.length ? 'all' : taken.join(', '));
    }
  });

  test('guide pages say what the rows of the charts say about run limits and proxies', () => {
    const [limited, unlimited] = [true, false].map((isLimit) =>
      CHART_NAMES.filter(
        (chart) => hasKey({chart, version: newestOf(chart)}, concurrency) === isLimit,
      ),
    );
    const size = readFileSync(join(root, 'docs/guide/size.md'), 'utf8');
    expect(size).toContain(
      `With ${limited?.join(' and ')}, \`--concurrency\` is the maximum number of concurrent runs.`,
    );
    expect(size).toContain(`${unlimited?.toSorted().join(' and ')} do not limit concurrent runs`);
    const proxy = CHARTS['agent-k8s'].rows.find(({setting}) => setting.id === httpsProxy.id);
    const scope = scopeOf({chart: 'agent-k8s', version: newestOf('agent-k8s')}, () => undefined);
    expect(readFileSync(join(root, 'docs/guide/network.md'), 'utf8')).toContain(
      proxy?.partly?.('http://proxy:3128', scope),
    );
  });

  test('charts/upgrades.md lists every known problem', async () => {
    const page = 'docs/charts/upgrades.md';
    const tables = CHART_NAMES.reduce(
      (text, chart) => between(text, `known-problems-${chart}`, knownProblemsTable(chart)),
      readFileSync(join(root, page), 'utf8'),
    );
    await expectFile(page, tables);
  });

  test('permissions.md lists the permissions that follow from the calls of each command', async () => {
    const text = readFileSync(join(root, 'docs/permissions.md'), 'utf8');
    const tables = Object.entries(await permissionsTables());
    for (const [mark] of tables) expect(text).toContain(`<!-- ${mark} -->`);
    await expectFile(
      'docs/permissions.md',
      tables.reduce((all, [mark, content]) => between(all, mark, content), text),
    );
  });

  test('README.md links all pages', async () => expectFile('docs/README.md', indexPage()));
  test('speed.md states the sizes that budget.json allows', () => {
    const {packedKilobytes, unpackedKilobytes} = JSON.parse(
      readFileSync(join(root, 'budget.json'), 'utf8'),
    );
    const megabytes = (kilobytes: number): string => `${(kilobytes / 1000).toFixed(1)} MB`;
    const sizes = `${megabytes(packedKilobytes)} to download, ${megabytes(unpackedKilobytes)} on disk`;
    expect(readFileSync(join(root, 'docs/speed.md'), 'utf8')).toContain(sizes);
  });
  test('exit-codes.md', async () =>
    expectFile(
      'docs/exit-codes.md',
      `${words('exit-codes.md')}\n\n${table(['Code', 'Meaning'], exitRows())}\n`,
    ));
  test('settings.md', async () => expectFile('docs/settings.md', settingsPage()));
  test('preflight.md', async () => expectFile('docs/preflight.md', preflightPage()));
  test('findings.md has an example for every code of validate', async () => {
    const named = readdirSync(join(root, 'src/values/validate')).flatMap(codesIn);
    expect(FOUND_CODES).toEqual(
      expect.arrayContaining([...new Set(named)].filter((code) => !ELSEWHERE.has(code))),
    );
    await expectFile('docs/findings.md', findingsPage());
  });

  test('errors.md has real output for every code', async () =>
    expectFile('docs/errors.md', await errorsPage()));

  test.each(['causes.md', 'upgrades.md', 'warnings.md'])('%s', async (page) =>
    expectFile(`docs/${page}`, codesPage(page)));

  test('every error code has an entry, and every entry has a code', () => {
    expect(Object.keys(ENTRIES)).toEqual([...ERROR_CODES]);
  });

  test('the catalog has every code of validate, every check, every cause and every known problem', () => {
    const codesOf = (page: string): string[] => explanationsOf(page).map(({code}) => code);
    expect(codesOf('preflight.md')).toEqual(ALL_CHECKS.map(({id}) => id));
    expect(codesOf('causes.md')).toEqual(expect.arrayContaining(CAUSES.map(({code}) => code)));
    const all = explanations().map(({code}) => code);
    const problems = Object.values(KNOWN_PROBLEMS).flat();
    expect(all).toEqual(expect.arrayContaining(problems.map(({code}) => code)));
    expect(all).toEqual(expect.arrayContaining([...FOUND_CODES]));
    expect(all.filter((code, index) => all.indexOf(code) !== index)).toEqual([]);
  });

  test('every exit code has a meaning', () => {
    expect(MEANINGS.map(([code]) => Number(code))).toEqual(Object.values(ExitCode));
  });

  test.each(commands)('the documented exit codes of $id match its code and its help', ({
    id,
    command,
  }) => {
    const {own, reached} = statusesOf(id);
    const documented = exitRowsOf(id).map(([code]) => code);
    const help = [
      command.description,
      ...Object.values({...command.baseFlags, ...command.flags}).map(({summary}) => summary),
    ].join('\n');
    expect(documented).toEqual(expect.arrayContaining(statusesNamed(help)));
    expect(documented).toEqual(expect.arrayContaining(own));
    expect([...reached, String(ExitCode.ok)]).toEqual(expect.arrayContaining(documented));
  });
});

test('every check has an example', async () => {
  const examples = await checkExamples();
  expect(ALL_CHECKS.map(({id}) => id).filter((id) => examples[id] === undefined)).toEqual([]);
});

/** Codes that only a test with helm, a cluster or Docker produces, and the one of a bug. */
const WITHOUT_EXAMPLE = [
  'CHECK_FAILED',
  'DELETION_PENDING',
  'DOCKER',
  'KEY_REMOVED',
  'NOT_REMOVED',
  'REFUSED_BY_CHART',
  'RESTART',
  'UNCONFIRMED_KEY',
  'UPSTREAM_CHANGE',
];

test('every other code has an example', () => {
  const without = explanations().filter(({example}) => example === undefined);
  expect(without.map(({code}) => code).toSorted()).toEqual(WITHOUT_EXAMPLE);
});

test('schemas/answers.schema.json describes an answers file', async () => {
  const schema = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Answers file of scalr-agent',
    type: 'object',
    additionalProperties: false,
    properties: {
      $schema: {type: 'string'},
      ...Object.fromEntries(
        settings.map(({id, summary, kind}) => [
          id,
          {
            description: summary,
            ...(kind.isFile && !kind.list ? {type: 'string'} : kind.jsonSchema),
          },
        ]),
      ),
    },
  };
  await expectFile('schemas/answers.schema.json', `${JSON.stringify(schema, null, 2)}\n`);
});

test('schemas/commands.json lists every command and flag, so that reviews show removed ones', async () => {
  const contract = commands.map(({id, command}) => ({
    id,
    flags: Object.entries({...command.baseFlags, ...command.flags})
      .map(([name, flag]) => ({
        name,
        ...(flag.char ? {char: flag.char} : {}),
        type: flag.type,
        ...('multiple' in flag && flag.multiple ? {multiple: true} : {}),
        ...('allowNo' in flag && flag.allowNo ? {allowNo: true} : {}),
      }))
      .toSorted((one, other) => (one.name < other.name ? -1 : 1)),
  }));
  await expectFile('schemas/commands.json', `${JSON.stringify(contract, null, 2)}\n`);
});
