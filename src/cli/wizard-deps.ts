import {programOf} from '../ground/program.ts';
import {quote} from '../settings/settings.ts';
import type {SavedContent} from '../wizard/files.ts';
import type {FirstDeps} from '../wizard/run-wizard.ts';
import type {WizardDeps} from '../wizard/session.ts';
import type {Transcript} from '../wizard/transcript.ts';
import type {WizardState} from '../wizard/wizard-state.ts';
import type {ClusterFlags} from './connection-flags.ts';
import {generateConfirmed} from './generate.ts';
import {directoryOf, prepareInDocker} from './install-docker.ts';
import {saveFiles} from './save-files.ts';
import {typedPath} from './typed-path.ts';
import {WizardCluster} from './wizard-cluster.ts';
import {poolFlags} from './wizard-readings.ts';
import {flagsAt, type WizardSession} from './wizard-session.ts';

/** What the questions after the first one need from the command. */
export function wizardDeps(
  session: WizardSession,
  first: FirstDeps,
  transcript: Transcript,
): WizardDeps {
  const {flags, context, interrupt, resumeStore} = session;
  const {app} = context;
  const {files, now, env} = app;
  const cluster = new WizardCluster(session);
  return {
    ...first,
    transcript,
    files,
    now,
    env,
    program: programOf(env),
    desired: cluster.desired,
    prepare: (state, generated) => cluster.prepare(state, generated),
    readChart: (source) => readChartName(source, session),
    generate: (settings, facts) => generateConfirmed(settings, facts, {app, flags}),
    planContainers: (settings) =>
      prepareInDocker(settings, directoryOf(settings, flags.save), app, interrupt),
    where: (state) => [...whereFlags(flagsAt(session, state)), ...poolFlags(state)],
    onAnswer: (state) => resumeStore.keep(state),
    typedPath: (text) => typedPath(text, env),
    save: (directory, content, state) => save(session, directory, content, state),
  };
}

async function readChartName(source: string, {context: {app}}: WizardSession) {
  const {readMetadata} = await import('../values/chart-files.ts');
  return readMetadata(source, (await app.charts.read(source)).chart);
}

const whereFlags = ({'kube-context': context, kubeconfig}: ClusterFlags): string[] => [
  ...(context ? [`--kube-context ${quote(context)}`] : []),
  ...(kubeconfig ? [`--kubeconfig ${quote(kubeconfig)}`] : []),
];

function save(
  session: WizardSession,
  directory: string,
  content: SavedContent,
  state: WizardState,
): Promise<string[]> {
  const {context, prompter} = session;
  const {files, env} = context.app;
  const options = {
    ...content,
    directory: typedPath(directory, env),
    context: flagsAt(session, state)['kube-context'],
    isAccepted: false,
    prompter,
  };
  return saveFiles(options, files);
}
