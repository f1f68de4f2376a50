/** Why nobody waits any more, as far as the signal says: those of Ctrl-C and the like carry a name, and timeouts an error. */
export function whyOver({reason}: AbortSignal): string {
  if (typeof reason === 'string') return 'interrupted';
  return (reason as Error | undefined)?.name === 'TimeoutError' ? '--timeout was over' : 'nobody waits for it any more';
}
