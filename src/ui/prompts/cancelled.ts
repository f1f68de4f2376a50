/** Nobody answers any more: Ctrl-C, Ctrl-D, or the question was taken away. Named as the prompts name theirs. */
export class Cancelled extends Error {
  override readonly name = 'ExitPromptError';
}
