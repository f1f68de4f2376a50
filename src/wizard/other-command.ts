import type {WizardState} from './wizard-state.ts';

export type OtherCommand = 'upgrade' | 'status' | 'uninstall';

/** The user wants another command for the installed release. */
export class OtherCommandChosen extends Error {
  readonly command: OtherCommand;
  readonly state: WizardState;

  constructor(command: OtherCommand, state: WizardState) {
    super(command);
    this.command = command;
    this.state = state;
  }
}
