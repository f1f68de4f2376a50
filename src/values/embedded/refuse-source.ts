import {type ExpectedError, failed} from '../../ground/errors.ts';

/** Files whose values only their engine can evaluate, and the command that prints these values. */
interface EngineSource {
  what: string;
  isSource(file: string, text: string): boolean;
  instead: string;
}

const INSTALLED =
  'Save the values of the installed release as YAML, with helm get values, and use that file';

const SOURCES: readonly EngineSource[] = [
  {
    what: 'is a Terraform file',
    isSource: (file, text) =>
      /\.tf(?:\.json)?$/.test(file) || /^\s*resource\s+"helm_release"\s/m.test(text),
    instead: INSTALLED,
  },
  {
    what: 'is a Helmfile template',
    isSource: (file, text) =>
      /\.gotmpl$/.test(file) || (/^releases:/m.test(text) && text.includes('{{')),
    instead:
      "Let Helmfile write the values, and use that file: helmfile write-values --output-file-template '{{ .Release.Name }}.yaml'",
  },
];

/** @throws ExpectedError for a file that is not read, because only its engine can evaluate it */
export function refuseSource(file: string, text: string): void {
  const source = SOURCES.find(({isSource}) => isSource(file, text));
  if (source) throw notReadable(file, source.what, source.instead);
}

/** An expression that is no part of a quoted text: some are valid YAML, but mean something else there. */
const UNQUOTED = /(^|[:,[-]\s+)\{\{/m;

/** @throws ExpectedError for values that their engine would still change */
export function refuseTemplates(file: string, values: string): void {
  if (UNQUOTED.test(values))
    throw notReadable(
      file,
      'has template expressions ({{ … }}) in the values of a release',
      INSTALLED,
    );
}

const notReadable = (file: string, what: string, instead: string): ExpectedError => {
  const name = file === '-' ? 'Standard input' : file;
  return failed('UNREADABLE_FILE', `${name} ${what}, which scalr-agent cannot evaluate.`, [
    instead,
  ]);
};
