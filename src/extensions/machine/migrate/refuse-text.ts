import {type ExpectedError, failed} from '../../../ground/errors.ts';

/** A text that another tool defines, and the command that prints the same as data. */
interface RecognizedText {
  what: string;
  pattern: RegExp;
  /** Must be in the text too. */
  needs?: RegExp;
  remedies: readonly string[];
}

const MIGRATE = 'scalr-agent migrate - --to agent-job';
const OF_CONTAINER = `Migrate the running container: docker inspect CONTAINER | ${MIGRATE}`;
const OF_SERVICE =
  'For an agent that runs as a service, pass its settings as flags: scalr-agent values --help';

/** What a shell or a document can have before a command. */
const BEFORE = String.raw`^(?:[$#>~%]+[ \t]+)?(?:(?:sudo|env|exec|export|command)[ \t]+|[A-Za-z_]\w*=\S*[ \t]+)*`;

const TEXTS: readonly RecognizedText[] = [
  {
    what: 'a helm command',
    pattern: new RegExp(`${BEFORE}helm[ \\t]+[a-z-]`, 'm'),
    remedies: [
      'Print the values of the release with helm get values, then migrate them: scalr-agent migrate - --to agent-job --from CHART@VERSION',
      'For an agent that is not installed yet: scalr-agent values --help',
    ],
  },
  {
    what: 'a docker command',
    pattern: new RegExp(`${BEFORE}(?:docker|podman|nerdctl)[ \\t]+[a-z-]`, 'm'),
    remedies: [OF_CONTAINER],
  },
  {
    what: 'a systemd unit',
    pattern: /^\[(?:Unit|Service|Install)\][ \t]*$/m,
    remedies: [OF_CONTAINER, OF_SERVICE],
  },
  {
    what: 'a Dockerfile',
    pattern: /^FROM[ \t]+\S+/m,
    remedies: [OF_CONTAINER],
  },
  {
    what: 'a Compose file',
    pattern: /^services:[ \t]*(?:\{|$)/m,
    needs: /image["']?:[^\n]*agent/,
    remedies: [`Convert it to JSON: docker compose config --format json | ${MIGRATE}`],
  },
  {
    what: 'a list of environment variables',
    pattern: /^(?:export[ \t]+)?[A-Za-z_]\w*=/m,
    remedies: [OF_CONTAINER, OF_SERVICE],
  },
];

/** Why a text is no values file but a command or a file of another tool; undefined for everything else. Never quotes the text. */
export function unsupportedInput(file: string, text: string): ExpectedError | undefined {
  const lines = text.replaceAll(/\r\n?/g, '\n').replaceAll(/^#.*$/gm, '');
  const found = TEXTS.find(
    ({pattern, needs}) => pattern.test(lines) && needs?.test(lines) !== false,
  );
  if (found === undefined) return undefined;
  const name = file === '-' ? 'Standard input' : file;
  return failed(
    'UNREADABLE_FILE',
    `${name} is ${found.what}, which migrate cannot read.`,
    found.remedies,
  );
}
