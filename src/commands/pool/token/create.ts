import * as Flags from '@oclif/core/flags';
import {accountFlags} from '../../../cli/account.ts';
import {PoolCommand, poolArgument} from '../../../cli/account-command.ts';
import {durationOf} from '../../../cli/flag-values.ts';
import {confirmFlags} from '../../../cli/flags.ts';
import {confirmResult, linesOf, writeResult} from '../../../cli/write-files.ts';
import {createToken, revokeToken} from '../../../extensions/account/create-token.ts';
import {planTokenCreation} from '../../../extensions/account/token-plans.ts';

interface Result {
  /** Null in a dry run. */
  id: string | null;
  /** The token itself; null in a dry run, or if it is in the file of --out. */
  token: string | null;
  expiresAt: string | null;
}

const NOT_CREATED: Result = {id: null, token: null, expiresAt: null};
const YEAR_SECONDS = 365 * 86_400;

export default class PoolTokenCreate extends PoolCommand<Result> {
  static override summary = 'Create a token of an agent pool.';
  static override description =
    'Prints the token on standard output, or writes it to a file that only you can read. Scalr does not show it again. Shows the plan and asks for confirmation; --yes confirms.';
  static override examples = [
    '<%= config.bin %> <%= command.id %> eks-prod --out token.txt',
    '<%= config.bin %> <%= command.id %> eks-prod --expires-in 720h --yes > token.txt',
  ];
  static override args = poolArgument;
  static override flags = {
    out: Flags.string({
      summary: 'File for the token instead of standard output; only its owner can read it.',
      helpValue: '<FILE>',
    }),
    'token-name': Flags.string({
      summary: 'Name of the token in Scalr.',
      helpValue: '<NAME>',
      default: 'scalr-agent',
    }),
    description: Flags.string({summary: 'Description of the token in Scalr.', helpValue: '<TEXT>'}),
    'expires-in': Flags.string({
      summary: 'Lifetime, for example 720h. Default: no expiration.',
      helpValue: '<DURATION>',
    }),
    ...confirmFlags,
    ...accountFlags,
  };

  override async run(): Promise<Result> {
    const {args, flags} = await this.parse(PoolTokenCreate);
    const name = this.required(args.name);
    const lifetime = flags['expires-in'];
    const attributes = {
      name: flags['token-name'],
      description: flags.description ?? 'Created by scalr-agent pool token create',
      expiresInMinutes:
        lifetime === undefined
          ? null
          : Math.ceil(durationOf('--expires-in', lifetime, {max: YEAR_SECONDS}) / 60_000),
    };
    const client = await this.account(flags);
    const {pool, ...plan} = await this.untilInterrupted(() =>
      planTokenCreation(client, name, attributes),
    );
    const file = {path: flags.out, isPrivate: true, isDryRun: flags['dry-run']};
    const {files} = this.app;
    // Whether the file can be written is known before the token exists.
    await confirmResult({...file, isAccepted: flags.yes, prompter: this.prompter}, files);
    return this.changeAccount({client, plan, planned: NOT_CREATED}, flags, async () => {
      const {token, text} = await createToken(client, pool, attributes);
      const document = {id: token.id, token: text.reveal(), expiresAt: token.expiresAt};
      try {
        const {file: written, done} = await writeResult(
          {...file, text: `${text.reveal()}\n`, isAccepted: true},
          files,
        );
        if (written !== undefined) {
          this.say(linesOf(done));
          return {...document, token: null};
        }
      } catch (error) {
        await revokeToken(client, token);
        throw error;
      }
      if (!this.jsonEnabled()) this.app.stdout(`${text.reveal()}\n`);
      return document;
    });
  }
}
