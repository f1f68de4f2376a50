import {onFailure} from '../ground/errors.ts';
import {programOf} from '../ground/program.ts';

import {token, tokenFile, tokenSecret} from '../settings/agent.ts';
import {quote} from '../settings/settings.ts';
import {titleText} from '../ui/title.ts';
import {onlyPlace} from '../wizard/ask-target.ts';
import type {SavedContent} from '../wizard/files.ts';
import type {OfferedPools} from '../wizard/gathered-facts.ts';
import {GatheredFacts} from '../wizard/gathered-facts.ts';
import type {WizardDeps} from '../wizard/run-wizard.ts';
import type {WizardState} from '../wizard/wizard-state.ts';
import type {ClusterFlags} from './connection-flags.ts';
import {generateConfirmed} from './generate.ts';
import {directoryOf, prepareInDocker} from './install-docker.ts';
import {saveFiles} from './save-files.ts';
import {typedPath} from './typed-path.ts';
import {WizardCluster} from './wizard-cluster.ts';
import {offeredPools, poolFlags} from './wizard-readings.ts';
import {flagsAt, type WizardSession} from './wizard-session.ts';

/** What the wizard needs from the command. */
export async function wizardDeps(session: WizardSession): Promise<WizardDeps> {
  const {flags, context, prompter, interrupt, resumeStore} = session;
  const {app, screen, version} = context;
  const {files, now, stderr: say, env} = app;
  const cluster = new WizardCluster(session);
  const offered = poolsToOffer(session);
  const docker = app.requireTool('docker').then(
    () => true,
    onFailure(() => false),
  );
  const [contexts, hasDocker] = await Promise.all([cluster.contexts(), docker]);
  return {
    prompter,
    files,
    now,
    say,
    screen,
    env,
    program: programOf(env),
    title: () => titleText(version, screen),
    contexts,
    onlyPlace: onlyPlace(contexts, hasDocker),
    facts: new GatheredFacts({...cluster.readers(), pools: async () => offered}),
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

/** A token, or the Secret that contains it, needs no pool. */
const NO_POOL = [token, tokenFile, tokenSecret];

/** Read in the background from the first question on. */
function poolsToOffer({
  flags,
  given,
  context,
}: WizardSession): Promise<OfferedPools | undefined> | undefined {
  const isSettled =
    flags.account === false ||
    flags.pool !== undefined ||
    NO_POOL.some((setting) => given.isExplicit(setting));
  if (isSettled) return undefined;
  const offered = offeredPools(given, context);
  offered.catch(() => undefined);
  return offered;
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
