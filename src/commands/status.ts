import * as Flags from '@oclif/core/flags';
import {BaseCommand} from '../cli/base-command.ts';
import {releaseName, settingFlags, timeoutOf} from '../cli/flags.ts';
import {readTexts} from '../cli/user-files.ts';
import {ExitCode, ExpectedError} from '../errors.ts';
import {namespace, release} from '../settings/release.ts';
import {readStatus, watchStatus} from '../status/read-status.ts';
import type {Status as Found} from '../status/status.ts';
import {driftText} from '../ui/diff.ts';
import {type StatusDocument, statusDocument} from '../ui/formats/status.ts';
import {changesReporter, statusText} from '../ui/status.ts';
import {readLayers} from '../values/validate/source.ts';

const SETTINGS = [namespace, release];
/** Somebody waits for the answer. */
const LOOK_TIMEOUT = '30s';

export default class Status extends BaseCommand<Partial<StatusDocument>> {
  static override summary = 'Say how an installed agent is: ready or why not, its versions, its runs, and what differs from your files.';
  static override description =
    `Only reads, and goes on without what the account may not read. Ends with 0 when the agent is ready, else with 1. With --watch it shows what changes, line by line, until Ctrl-C ends it with 130, as kubectl get --watch. --timeout is for one look, ${LOOK_TIMEOUT} where it is not given.`;
  static override examples = [
    '<%= config.bin %> <%= command.id %> --namespace scalr-agent',
    '<%= config.bin %> <%= command.id %> --values base.yaml --values production.yaml --exit-code',
    '<%= config.bin %> <%= command.id %> --watch',
  ];
  static override flags = {
    values: Flags.string({
      char: 'f',
      summary: 'Layer of the values.yaml to compare with, the last one winning, as in helm; - reads standard input; may be repeated.',
      helpValue: '<FILE>',
      multiple: true,
      multipleNonGreedy: true,
      delimiter: ',',
    }),
    'exit-code': Flags.boolean({
      summary: 'Exit with 5 when a ready agent differs from its release, or from --values.',
      exclusive: ['watch'],
    }),
    watch: Flags.boolean({char: 'w', summary: 'Go on looking, and print what changes.'}),
    ...settingFlags(SETTINGS),
  };

  override async run(): Promise<Partial<StatusDocument>> {
    const {flags} = await this.parse(Status);
    const timeoutMs = timeoutOf({...flags, timeout: flags.timeout ?? LOOK_TIMEOUT});
    if (flags.watch && this.jsonEnabled()) throw twoForms();
    const name = releaseName(flags, await this.settingsFrom(flags, {only: SETTINGS}));
    const files = flags.values ?? [];
    const wanted = files.length === 0 ? undefined : readLayers(await readTexts(files, this.app.files));
    const {now, sleep} = this.app;
    const access = await this.accessTo(name.place, flags);
    if (!flags.watch) {
      const status = await readStatus(name, {wanted, over: AbortSignal.timeout(timeoutMs)}, {...access, now});
      if (!this.jsonEnabled()) {
        this.show(statusText({name, status, files, now: now()}, this.resultScreen));
        const text = await driftText(status.drift, this.resultScreen);
        if (text !== '') this.show(`\n${text}`);
      }
      process.exitCode = exitOf(status, files, flags['exit-code'] ?? false);
      return statusDocument(name, status, files);
    }
    const interrupts = this.app.takeInterrupts();
    const changes = changesReporter((text) => this.show(text), this.resultScreen);
    try {
      await watchStatus(name, wanted, {
        ...access,
        interrupts,
        now,
        sleep,
        timeoutMs,
        onStatus: (status) => changes.status({name, status, files, now: now()}),
        onTrouble: (trouble) => changes.trouble(trouble, now()),
      });
    } finally {
      interrupts.release();
    }
    process.exitCode = interrupts.asked.reason === 'SIGTERM' ? ExitCode.terminated : ExitCode.interrupted;
    return {};
  }
}

/** `isStrict` makes differences a failure, and what could not be compared too. */
function exitOf({state, objects, drift}: Found, files: readonly string[], isStrict: boolean): ExitCode {
  if (state !== 'ready') return ExitCode.failed;
  if (!isStrict) return ExitCode.ok;
  if (objects === undefined || (files.length > 0 && drift === undefined)) return ExitCode.failed;
  return objects.length > 0 || (drift?.differences.length ?? 0) > 0 ? ExitCode.differences : ExitCode.ok;
}

const twoForms = (): ExpectedError =>
  new ExpectedError('--watch prints changes as they come, and --json is one document at the end.', {
    code: 'USAGE',
    exit: ExitCode.usage,
    suggestions: ['Leave out --watch, and ask again with --json whenever you like'],
  });
