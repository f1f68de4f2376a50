import {ExitCode, ExpectedError} from '../../errors.ts';

/** Of a program that was ended by this. */
export const statusOf = ({reason}: AbortSignal): ExitCode => (reason === 'SIGTERM' ? ExitCode.terminated : ExitCode.interrupted);

export const interrupted = (by: AbortSignal): ExpectedError =>
  new ExpectedError('Interrupted. No bundle was written.', {
    code: 'INTERRUPTED',
    exit: statusOf(by),
    suggestions: ['Run the same command again', 'Ctrl-C once, while it reads logs, keeps what is there'],
  });
