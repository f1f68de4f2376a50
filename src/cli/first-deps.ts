import {onFailure} from '../ground/errors.ts';
import {titleText} from '../ui/title.ts';
import {onlyPlace} from '../wizard/ask-target.ts';
import {readContexts} from '../wizard/contexts.ts';
import {GatheredFacts} from '../wizard/gathered-facts.ts';
import type {FirstDeps} from '../wizard/run-wizard.ts';
import {toolPaths} from './connection-flags.ts';
import {discoverySignal, nameAt, type WizardSession} from './wizard-session.ts';

/** What the first question needs from the command. The rest is loaded later, because it is most of the program. */
export async function firstDeps(session: WizardSession): Promise<FirstDeps> {
  const {flags, context, prompter, start} = session;
  const {app, screen, version} = context;
  const {kubeTarget} = nameAt(session, start);
  const processes = app.processes(toolPaths(flags));
  const [contexts, hasDocker] = await Promise.all([
    readContexts(kubeTarget, processes, discoverySignal(session)),
    app.requireTool('docker').then(
      () => true,
      onFailure(() => false),
    ),
  ]);
  const first: FirstDeps = {
    prompter,
    screen,
    say: app.stderr,
    title: () => titleText(version, screen),
    contexts,
    onlyPlace: onlyPlace(contexts, hasDocker),
    facts: new GatheredFacts(async () => {
      const {WizardCluster} = await import('./wizard-cluster.ts');
      return new WizardCluster(session).readers();
    }),
    load: async (transcript) => {
      const {wizardDeps} = await import('./wizard-deps.ts');
      return wizardDeps(session, first, transcript);
    },
  };
  return first;
}
