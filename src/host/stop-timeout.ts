/** Defaults of the agent, which chart agent-k8s also has. */
const DRAIN_SECONDS = 3600;
const STOP_SECONDS = 60;
/** Time to exit after the runs have ended. */
const EXIT_SECONDS = 10;

/** Seconds that an agent with these variables needs to end its runs after SIGTERM. */
export function secondsToStop(variables: Readonly<Record<string, string>>): number {
  const seconds = (name: string, usual: number): number => Number(variables[name] ?? usual) || usual;
  const stop = seconds('SCALR_AGENT_WORKER_GRACE_SHUTDOWN_TIMEOUT', STOP_SECONDS);
  switch (variables['SCALR_AGENT_WORKER_ON_STOP_ACTION']) {
    case 'force-shutdown':
      return EXIT_SECONDS;
    case 'grace-shutdown':
      return stop + EXIT_SECONDS;
    default:
      return seconds('SCALR_AGENT_WORKER_DRAIN_TIMEOUT', DRAIN_SECONDS) + stop;
  }
}
