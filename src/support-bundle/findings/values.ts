import type {Target} from '../../charts/define.ts';
import type {Values} from '../../charts/tree.ts';
import {knownBugs, validate} from '../../values/validate/validate.ts';
import {jsonText} from '../object-files.ts';
import type {Finding} from './finding.ts';

interface Installed {
  name: string;
  target: Target;
  values: Values | undefined;
}

/** What is known of values in this very version, and what the chart of this version gets wrong whatever they are. Pure. */
export const mistakes = ({name, target, values}: Installed): Finding[] => {
  const text = jsonText(values ?? {});
  const found = [...(values === undefined ? [] : validate(text, target)), ...knownBugs(text, target)];
  return found.map(({severity, code, path, line, message, suggestion}) => ({
    severity,
    code,
    object: `release/${name}`,
    // With the key before it, redaction would take the words for its value.
    message: path === '' || line === undefined ? `${target.chart} ${target.version}: ${message}` : `${message} (${path})`,
    ...(values === undefined ? {} : {evidence: `releases/${name}/values.json`}),
    ...(line === undefined ? {} : {line}),
    remedy: suggestion ?? `See scalr-agent validate, with --chart ${target.chart} --chart-version ${target.version}`,
  }));
};
