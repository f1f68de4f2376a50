import {cpSync, mkdtempSync, readdirSync, readFileSync, renameSync, writeFileSync} from 'node:fs';
import {createServer} from 'node:http';
import type {AddressInfo} from 'node:net';
import {join} from 'node:path';
import {execa} from 'execa';
import {type Document, parseDocument} from 'yaml';
import type {Target} from '../../src/charts/releases/target.ts';
import type {Call} from '../../src/ground/call.ts';
import {argumentsOf} from '../../src/ground/call-arguments.ts';
import {CHART_REPOSITORY} from '../../src/ground/command-line.ts';
import {nodeProcesses, type ToolPaths} from '../../src/ground/system/node-processes.ts';
import type {Processes} from '../../src/ground/system/system.ts';

/** Versions that were never released, made from released charts: `agent-local` as far as the notes of 0.7.0 are known, `agent-job` with every kind of change. */
export const MADE_UP: readonly Target[] = [
  {chart: 'agent-local', version: '0.7.0'},
  {chart: 'agent-job', version: '0.7.0'},
];

const SOURCE = '0.6.5';

/** Why there are none: the charts are not part of this repository. */
export const NO_CHARTS = 'requires the released charts: SCALR_CHARTS=DIRECTORY';

/** Writes a made-up chart to `<directory>/<chart>/<version>` and returns that path. */
export function madeUpChart({chart, version}: Target, charts: string, directory: string): string {
  const path = join(directory, chart, version);
  cpSync(join(charts, chart, SOURCE), path, {recursive: true});
  const edit = (file: string, change: (document: Document) => void): void => {
    const document = parseDocument(readFileSync(join(path, file), 'utf8'));
    change(document);
    writeFileSync(join(path, file), document.toString());
  };
  edit('Chart.yaml', (document) => {
    document.set('version', version);
    document.set('appVersion', '1.9.0');
    document.setIn(['annotations', 'artifacthub.io/changes'], NOTES[chart as keyof typeof NOTES]);
  });
  if (chart === 'agent-local') toStatefulSet(path, edit);
  else withMovedKeys(path, edit);
  return path;
}

/** A chart repository on this machine. */
export interface ChartServer {
  address: string;
  /** Tools with this repository in the place of the public one. */
  processes(paths: ToolPaths): Processes;
  close(): void;
}

/** Serves the archives in a directory. */
export async function serveCharts(helm: string, directory: string): Promise<ChartServer> {
  await execa(helm, ['repo', 'index', directory]);
  const server = createServer(({url = '/'}, response) => {
    try {
      response.end(readFileSync(join(directory, url)));
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const local = (call: Call): Call => {
    const args = argumentsOf(call).map((each) => (each === CHART_REPOSITORY ? address : each));
    return {...call, args} as unknown as Call;
  };
  const processes = (paths: ToolPaths): Processes => {
    const {run, start} = nodeProcesses(paths);
    return {run: (call, options) => run(local(call), options), start: (call) => start(local(call))};
  };
  return {address, processes, close: () => void server.close()};
}

/** Makes a key, and writes its public part to `keyring` and its secret part to `<keyring>.secret`. */
export async function makeKey(name: string, keyring: string): Promise<void> {
  const home = mkdtempSync(`${keyring}-`);
  const gpg = (...args: readonly string[]) =>
    execa('gpg', ['--homedir', home, '--batch', '--passphrase', '', ...args], {encoding: 'buffer'});
  await gpg('--quick-gen-key', name, 'rsa3072', 'sign', 'never');
  writeFileSync(keyring, (await gpg('--export')).stdout);
  writeFileSync(`${keyring}.secret`, (await gpg('--export-secret-keys')).stdout);
  await execa('gpgconf', ['--homedir', home, '--kill', 'all'], {reject: false});
}

/** Flags of `helm package` for the key of makeKey. */
export const signFlags = (name: string, keyring: string): string[] => [
  '--sign',
  '--key',
  name,
  '--keyring',
  `${keyring}.secret`,
];

type Edit = (file: string, change: (document: Document) => void) => void;

const NOTES = {
  'agent-local': `- kind: added
  description: "\`podLabels\`, and \`workload.kind: StatefulSet\` with persistent storage per replica"
- kind: added
  description: "\`persistence.{data,cache}.mode\`: a shared PVC, a generic ephemeral PVC or a StatefulSet claim template"
- kind: changed
  description: "BREAKING: several replicas are rejected with a shared ReadWriteOncePod claim"
- kind: removed
  description: "BREAKING: top-level \`persistence.enabled\` and \`persistence.persistentVolumeClaim.*\`. Move them under \`persistence.cache\` before upgrading"
`,
  'agent-job': `- kind: changed
  description: "\`agent.logFormat\` is renamed to \`agent.logging.format\`"
- kind: changed
  description: "\`task.job.ttlSecondsAfterFinished\` moved to \`task.ttlSecondsAfterFinished\`"
- kind: removed
  description: "\`task.startupTimeoutSeconds\`: the agent decides"
`,
};

/** Replaces text in a template; fails if it is not there. */
function replaceIn(path: string, from: string | RegExp, to: string): void {
  const text = readFileSync(path, 'utf8');
  const changed = text.replaceAll(from, to);
  if (changed === text) throw new Error(`${path} does not contain ${from}`);
  writeFileSync(path, changed);
}

function toStatefulSet(path: string, edit: Edit): void {
  edit('values.yaml', (document) => {
    document.deleteIn(['persistence', 'enabled']);
    document.deleteIn(['persistence', 'persistentVolumeClaim']);
    document.set('podLabels', {});
    // No template reads it.
    document.set('metrics', {port: 9090});
    document.set('workload', {kind: 'Deployment', statefulSet: {podManagementPolicy: 'Parallel'}});
    for (const volume of ['data', 'cache'])
      document.setIn(['persistence', volume, 'mode'], 'shared');
    document.setIn(['persistence', 'cache', 'emptyDir', 'sizeLimit'], '30Gi');
  });
  const templates = join(path, 'templates');
  renameSync(join(templates, 'deployment.yaml'), join(templates, 'workload.yaml'));
  const workload = join(templates, 'workload.yaml');
  replaceIn(workload, 'kind: Deployment', 'kind: {{ .Values.workload.kind }}');
  replaceIn(
    workload,
    'spec:\n  strategy:',
    'spec:\n  {{- if eq .Values.workload.kind "StatefulSet" }}\n  serviceName: {{ include "agent-local.fullname" . }}\n  podManagementPolicy: {{ .Values.workload.statefulSet.podManagementPolicy }}\n  {{- else }}\n  strategy:',
  );
  replaceIn(
    workload,
    '  replicas: {{ .Values.replicaCount }}',
    '  {{- end }}\n  replicas: {{ .Values.replicaCount }}',
  );
  replaceIn(
    workload,
    '        {{- include "agent-local.selectorLabels" . | nindent 8 }}\n    spec:',
    '        {{- include "agent-local.selectorLabels" . | nindent 8 }}\n        {{- with .Values.podLabels }}\n        {{- toYaml . | nindent 8 }}\n        {{- end }}\n    spec:',
  );
  const helpers = join(templates, '_helpers.tpl');
  replaceIn(
    helpers,
    /\{\{- if or \.Values\.persistence\.enabled[^\n]*\ntrue\n\{\{- end -\}\}\n/g,
    '',
  );
  replaceIn(
    helpers,
    'or .Values.persistence.cache.enabled .Values.persistence.enabled',
    '.Values.persistence.cache.enabled',
  );
  replaceIn(helpers, '{{- $pvc = .Values.persistence.persistentVolumeClaim -}}', '');
  writeFileSync(
    join(templates, 'validate.yaml'),
    `{{- range $volume := list .Values.persistence.data .Values.persistence.cache }}
{{- $claim := $volume.persistentVolumeClaim }}
{{- if and $volume.enabled (eq $volume.mode "shared") (not $claim.claimName) (eq $claim.accessMode "ReadWriteOncePod") (gt (int $.Values.replicaCount) 1) }}
{{- fail "replicaCount must be at most 1 with a shared ReadWriteOncePod claim" }}
{{- end }}
{{- end }}
{{- if not (has .Values.workload.kind (list "Deployment" "StatefulSet")) }}
{{- fail "workload.kind must be Deployment or StatefulSet" }}
{{- end }}
`,
  );
  replaceIn(
    join(templates, 'NOTES.txt'),
    /\{\{- if eq \(include "agent-local\.persistence\.usingDeprecated"[\s\S]*$/g,
    '',
  );
}

/** `agent.terminationGracePeriodSeconds` stays in values.yaml, but no template reads it. */
function withMovedKeys(path: string, edit: Edit): void {
  edit('values.yaml', (document) => {
    document.deleteIn(['agent', 'logFormat']);
    document.setIn(['agent', 'logging'], {format: 'json'});
    document.deleteIn(['task', 'job', 'ttlSecondsAfterFinished']);
    document.setIn(['task', 'ttlSecondsAfterFinished'], 90);
    document.deleteIn(['task', 'startupTimeoutSeconds']);
    document.setIn(['persistence', 'cache', 'emptyDir', 'sizeLimit'], '5Gi');
  });
  for (const name of readdirSync(join(path, 'templates'))) {
    const file = join(path, 'templates', name);
    const text = readFileSync(file, 'utf8');
    writeFileSync(
      file,
      text
        .replaceAll(/(\$agent|\.Values\.agent)\.logFormat/g, '$1.logging.format')
        .replaceAll(
          '.Values.task.job.ttlSecondsAfterFinished',
          '.Values.task.ttlSecondsAfterFinished',
        )
        .replaceAll(/(\$values|\.Values)\.task\.startupTimeoutSeconds/g, '180')
        .replaceAll('.Values.agent.terminationGracePeriodSeconds', '180'),
    );
  }
}
