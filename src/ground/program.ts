/** How the user can start this program. */
export interface Program {
  /** The command `install`. */
  install: string;
  /** Start of any other command. */
  other: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

export const programOf = (env: Environment): Program =>
  isFromNpx(env)
    ? {install: 'npx scalr-agent-install', other: 'npx scalr-agent-install'}
    : {install: 'scalr-agent install', other: 'scalr-agent'};

/** A text for the terminal, with commands of this program as they can be run there. Files that are written keep `scalr-agent`. */
export const withInvokedName = (text: string, env: Environment): string =>
  isFromNpx(env) ? text.replace(OWN, programOf(env).other) : text;

/** A program that npx downloaded is not on PATH. Other programs that npx runs can call this one. */
const isFromNpx = ({
  npm_command: command,
  npm_lifecycle_script: script = '',
}: Environment): boolean => command === 'exec' && /^['"]?scalr-agent\b/.test(script);

/** A command of this program in a text: its name and a command, or a flag. */
const OWN = new RegExp(
  `(?<![\\w./@-]|npx )scalr-agent(?:-install)?(?= (?:${[
    'collect-logs',
    'completion',
    'debug',
    'explain',
    'export',
    'images',
    'inspect',
    'install',
    'migrate',
    'network',
    'pool',
    'preflight',

    'recommend',
    'rotate-token',
    'schema',
    'status',
    'uninstall',
    'upgrade',
    'validate',
    'values',
    '--\\w',
  ].join('|')})\\b)`,
  'g',
);
