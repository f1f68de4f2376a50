import type {Target} from '../../charts/define.ts';
import type {Values} from '../../charts/tree.ts';
import type {Finding as Mistake} from '../../values/validate/finding.ts';
import {knownBugs, validate} from '../../values/validate/validate.ts';
import {jsonText} from '../object-files.ts';
import type {Evidence} from './evidence.ts';
import type {Finding} from './finding.ts';

interface Installed {
  name: string;
  target: Target;
  values: Values | undefined;
}

/** What is known of values in this very version, and what the chart of this version gets wrong whatever they are. Pure. */
export function mistakes({name, target, values}: Installed, places: Evidence): Finding[] {
  const text = jsonText(values ?? {});
  const version = `${target.chart} ${target.version}`;
  const finding = ({severity, code, suggestion}: Mistake, message: string): Finding => ({
    severity,
    code,
    object: `release/${name}`,
    message,
    remedy: suggestion ?? `See scalr-agent validate, with --chart ${target.chart} --chart-version ${target.version}`,
  });
  return [
    ...(values === undefined ? [] : validate(text, target)).map((each) => ({
      // With the key before it, redaction would take the words for its value.
      ...finding(each, each.path === '' ? `${version}: ${each.message}` : `${each.message} (${each.path})`),
      evidence: `releases/${name}/values.json`,
      ...(each.line === undefined ? {} : {line: each.line}),
    })),
    ...knownBugs(text, target).map((each) => ({
      ...finding(each, `${version}: ${each.message}`),
      ...places.ofVersion(name, target),
      remedy: each.suggestion ?? 'Upgrade, or take a version without it: --chart-version',
    })),
  ];
}
