import type {Command} from '@oclif/core';
import {CommandHelp, Help as OclifHelp} from '@oclif/core/help';

/** Commands and topics by purpose, as root help shows them, each with the flags that most people need, as -h shows them. */
const GROUPS: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  'SET UP': {
    install: [
      'url',
      'token-file',
      'pool',
      'namespace',
      'kube-context',
      'chart',
      'target',
      'concurrency',
      'https-proxy',
      'answers',
      'dry-run',
      'yes',
    ],
    recommend: [
      'cloud',
      'purpose',
      'isolation',
      'concurrency',
      'cache',
      'metadata-service',
      'from-cluster',
      'answers',
      'json',
    ],
    preflight: [
      'url',
      'namespace',
      'chart',
      'target',
      'concurrency',
      'https-proxy',
      'probe',
      'strict',
      'kube-context',
      'timeout',
      'answers',
      'json',
    ],
  },
  OPERATE: {
    status: [
      'namespace',
      'release',
      'all-namespaces',
      'contexts',
      'watch',
      'values',
      'exit-code',
      'json',
    ],
    upgrade: [
      'namespace',
      'release',
      'chart',
      'chart-version',
      'drain-timeout',
      'rollback-on-failure',
      'kube-context',
      'dry-run',
      'yes',
    ],
    debug: ['namespace', 'release', 'no-wait', 'kube-context', 'dry-run', 'yes'],
    'rotate-token': [
      'namespace',
      'release',
      'pool',
      'token-file',
      'confirm',
      'kube-context',
      'dry-run',
      'yes',
      'json',
    ],
    uninstall: [
      'namespace',
      'release',
      'target',
      'drain',
      'purge',
      'confirm',
      'kube-context',
      'dry-run',
      'yes',
    ],
  },
  SUPPORT: {
    'collect-logs': [
      'namespace',
      'release',
      'since',
      'run',
      'watch',
      'max-size',
      'out',
      'target',
      'kube-context',
    ],
    inspect: ['open', 'report', 'trace', 'json'],
    explain: ['json'],
  },
  FILES: {
    values: [
      'url',
      'chart',
      'chart-version',
      'concurrency',
      'cloud',
      'https-proxy',
      'cache',
      'set',
      'values-file',
      'answers',
      'out',
      'yes',
    ],
    migrate: ['from', 'to', 'out', 'exit-code', 'dry-run', 'yes', 'json'],
    validate: ['chart', 'chart-version', 'values', 'strict', 'fix', 'format', 'dry-run', 'yes'],
    schema: ['chart', 'chart-version', 'chart-source', 'out', 'json'],
    export: [
      'url',
      'token-file',
      'chart',
      'concurrency',
      'namespace',
      'overlay',
      'secret-store',
      'answers',
      'out',
      'yes',
    ],
    network: [
      'url',
      'chart',
      'target',
      'https-proxy',
      'ca-file',
      'probe',
      'probe-url',
      'format',
      'out',
      'answers',
    ],
    images: [
      'chart',
      'chart-version',
      'agent-image',
      'runner-image',
      'image-registry',
      'format',
      'out',
      'answers',
    ],
  },
  'SCALR ACCOUNT': {
    pool: [],
    'pool:list': ['url', 'json'],
    'pool:show': ['url', 'json'],
    'pool:create': ['environment', 'shared', 'vcs', 'url', 'dry-run', 'yes', 'json'],
    'pool:link': [
      'workspace',
      'environment',
      'account-default',
      'vcs-provider',
      'url',
      'dry-run',
      'yes',
    ],
    'pool:unlink': [
      'workspace',
      'environment',
      'account-default',
      'vcs-provider',
      'url',
      'dry-run',
      'yes',
    ],
    'pool:delete': ['url', 'dry-run', 'yes'],
    'pool:token:list': ['url', 'json'],
    'pool:token:create': [
      'out',
      'token-name',
      'description',
      'expires-in',
      'url',
      'dry-run',
      'yes',
    ],
    'pool:token:revoke': ['url', 'dry-run', 'yes'],
  },
  SHELL: {completion: []},
};

/** Column of the descriptions; a longer flag has its description on the next line. */
const COLUMN = 30;

class GroupedHelp extends CommandHelp {
  /** One screen: usage, these flags, one example, and where the rest is. */
  short(flags: readonly string[]): string {
    const {examples, flags: all, id} = this.command;
    const [example] = examples ?? [];
    const {bin} = this.config;
    return [
      this.section('USAGE', this.usage()),
      ...(flags.length === 0
        ? []
        : [
            this.section(
              'FLAGS',
              this.#list(flags.map((name) => brief({...all[name], name} as Command.Flag.Any))),
            ),
          ]),
      ...(example === undefined ? [] : [this.section('EXAMPLE', this.examples([example]) ?? '')]),
      `Run "${bin} ${id} --help" for all flags and examples.`,
    ].join('\n\n');
  }

  protected override defaultUsage(): string {
    return `${this.command.id} [flags]`;
  }

  /** Also a command with a variable or sudo before it has a prompt. */
  protected override examples(
    examples: Command.Example[] | string | undefined,
  ): string | undefined {
    return super.examples(examples)?.replace(/^ *(?=[A-Z_]+=|sudo |tofu )/gm, '$&$ ');
  }

  protected override description(): string {
    return this.wrap(this.command.description ?? '');
  }

  /** What the command does, and examples, before its flags: groups in their order, those of every command at the end. */
  protected override sections() {
    const isBeforeFlags = ({header}: {header: string}): boolean =>
      ['USAGE', 'ARGUMENTS', 'DESCRIPTION', 'EXAMPLES'].includes(header);
    const all = super
      .sections()
      .map((section) =>
        section.header === 'FLAGS'
          ? {...section, generate: ({flags}: {flags: Command.Flag.Any[]}) => this.#groups(flags)}
          : section,
      );
    return [...all.filter(isBeforeFlags), ...all.filter((section) => !isBeforeFlags(section))];
  }

  #groups(flags: Command.Flag.Any[]) {
    const {mainFlags, flagGroups} = this.groupFlags(flags);
    const {GLOBAL = [], ...groups} = flagGroups;
    return Object.entries({'': mainFlags, ...groups, GLOBAL})
      .filter(([, each]) => each.length > 0)
      .map(([name, each]) => ({header: `${name} FLAGS`.trim(), body: this.#list(each)}));
  }

  #list(flags: readonly Command.Flag.Any[]): string {
    return flags.map((flag) => this.#line(flag)).join('\n');
  }

  #line(flag: Command.Flag.Any): string {
    const {char, name, summary = ''} = flag;
    const isSwitch = flag.type === 'boolean';
    const value = isSwitch ? '' : ` ${[flag.helpValue ?? '<VALUE>'].flat().join(' ')}`;
    const label = `${char ? `-${char},` : '   '} --${isSwitch && flag.allowNo ? '[no-]' : ''}${name}${value}`;
    const options =
      isSwitch || flag.options === undefined || value.includes('|')
        ? ''
        : ` One of ${flag.options.join(', ')}.`;
    const fallback = isSwitch || flag.default === undefined ? '' : ` Default: ${flag.default}.`;
    const indented = this.indent(this.wrap(summary + options + fallback, COLUMN + 2), COLUMN);
    return label.length < COLUMN - 1
      ? label + indented.slice(label.length)
      : `${label}\n${indented}`;
  }
}

/** The first sentence, or the choices; details and long defaults are for --help. */
function brief(flag: Command.Flag.Any): Command.Flag.Any {
  const summary = flag.summary?.replace(/\. [A-Z-].*$/s, '.') ?? '';
  if (flag.type === 'boolean') return {...flag, summary};
  const {options, default: fallback, ...rest} = flag;
  const value = `${flag.helpValue}`;
  const choices = value.includes('|') ? value.slice(1, -1).split('|') : options;
  if (choices !== undefined)
    return {
      ...rest,
      summary: `${choices.join(', ')}.`,
      ...(value.includes('|') && {helpValue: `<${flag.name.toUpperCase()}>`}),
    };
  const full =
    summary +
    (/ Default: [^.]+\.$/.exec(flag.summary ?? '')?.[0] ??
      (fallback === undefined ? '' : ` Default: ${fallback}.`));
  return {...rest, summary: full.length < 80 - COLUMN ? full : summary};
}

/** `scalr-agent --help`, `COMMAND --help` and, on one screen, `COMMAND -h`. */
export default class Help extends OclifHelp {
  protected override CommandHelpClass = GroupedHelp;
  #isShort = false;

  override async showHelp(argv: string[]): Promise<void> {
    this.#isShort = argv.includes('-h') && !argv.includes('--help');
    await super.showHelp(argv);
  }

  override async showCommandHelp(known: Command.Loadable): Promise<void> {
    // The manifest has only what all commands together need.
    const {flags: own, baseFlags, description, examples, usage} = await known.load();
    const named = Object.entries({...baseFlags, ...own}).map(([name, flag]) => [
      name,
      {...flag, name},
    ]);
    const all = Object.fromEntries(named) as Command.Loadable['flags'];
    const command = {
      ...known,
      flags: all,
      ...(description && {description}),
      ...(examples && {examples}),
      ...(usage && {usage}),
    };
    if (!this.#isShort) return super.showCommandHelp(command);
    const flags =
      Object.values(GROUPS).find((commands) => command.id in commands)?.[command.id] ?? [];
    const typed = {...command, id: command.id.replaceAll(':', ' ')};
    this.log(
      `${this.summary(command)}\n\n${new GroupedHelp(typed, this.config, this.opts).short(flags)}`,
    );
  }

  protected override async showRootHelp(): Promise<void> {
    const {bin, pjson, userAgent} = this.config;
    const sections = [
      String(pjson['description']),
      `Start with: ${bin} install\nIt is a wizard, and changes nothing before you confirm.`,
      this.section('USAGE', `$ ${bin} COMMAND [flags]`),
      ...Object.entries(GROUPS).map(([header, commands]) =>
        this.section(
          header,
          this.#summaries(Object.keys(commands).filter((id) => !id.includes(':'))),
        ),
      ),
      this.section(
        'EXAMPLE',
        `$ ${bin} values --url https://acme.scalr.io --cloud eks --cache pvc`,
      ),
      this.wrap(`Run "${bin} COMMAND -h" for the main flags of a command, --help for all.`, 0),
      `Documentation: ${pjson['homepage']}\nProblems: ${(pjson as {bugs?: {url?: string}}).bugs?.url}`,
      userAgent,
    ];
    this.log(sections.join('\n\n'));
  }

  #summaries(ids: readonly string[]): string {
    const rows = ids.map((id): [string, string | undefined] => {
      const command = this.config.findCommand(id);
      return [
        id.padEnd(12),
        command ? this.summary(command) : this.config.findTopic(id, {must: true}).description,
      ];
    });
    return this.renderList(rows, {indentation: 2, spacer: '\n'});
  }
}
