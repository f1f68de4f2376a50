import {BaseCommand} from '../cli/base-command.ts';
import {signatureOf, signatureText} from '../cli/chart-signature.ts';
import {helmFlag} from '../cli/connection-flags.ts';
import {refuseFormat} from '../cli/flag-values.ts';
import {answersFlag, confirmFlags, formatFlag, outFlag, verifyFlag} from '../cli/flags.ts';
import {generateConfirmed, onlyRead} from '../cli/generate.ts';
import {checksOfConnection} from '../cli/local-inputs.ts';
import {settingFlags} from '../cli/setting-flags.ts';
import {imagesText} from '../extensions/fleet/images-text.ts';
import {type CopyTool, copyCommands, layoutScript} from '../extensions/fleet/mirror.ts';
import {useOf} from '../extensions/fleet/use.ts';
import type {ChartSignature} from '../operations/read-chart.ts';
import {url} from '../settings/agent.ts';
import {catalog} from '../settings/catalog.ts';
import {chartSource} from '../settings/release.ts';
import type {Settings} from '../settings/settings.ts';
import {chosenText} from '../ui/requirements.ts';
import {readMetadata} from '../values/chart-files.ts';
import {flagsToRepeat} from '../values/document.ts';
import {type InstallImages, imagesOfInstall} from '../values/images.ts';

interface Result extends InstallImages {
  /** With a registry. */
  commands?: Record<CopyTool, string[]>;
  /** Only with --verify. */
  signature?: ChartSignature;
  file?: string;
}

const LAYOUT = 'oci-layout-script';

export default class Images extends BaseCommand<Result> {
  static override summary = 'List every required image, and how to mirror it.';
  static override description =
    'Requires no cluster. helm and the network are needed only for --verify and for an unknown chart version. Accepts every setting of "values"; none is required. With --image-registry, prints the commands that copy the images to this registry, and the settings that use the copies.';
  static override examples = [
    '<%= config.bin %> <%= command.id %> --image-registry registry.example.com/mirror',
    '<%= config.bin %> <%= command.id %> --format oci-layout-script --out images.sh',
  ];
  static override flags = {
    ...formatFlag(['text', 'json', LAYOUT], ' The script copies the images through a directory.'),
    ...outFlag,
    ...confirmFlags,
    ...answersFlag,
    ...settingFlags(catalog, {chart: 'Chart whose images are listed. Default: recommended.'}),
    ...helmFlag,
    ...verifyFlag,
  };

  override async run(): Promise<Result> {
    const {flags} = await this.parse(Images);
    refuseFormat(flags.format, this.jsonEnabled());
    await this.requireLocal(
      flags,
      {certain: checksOfConnection([], flags, this.app)},
      {optional: [url]},
    );
    const given = await this.settingsFrom(flags, {optional: [url]});
    const found = await imagesOfInstall(given, {
      generate: (settings) =>
        generateConfirmed(onlyRead(settings), undefined, {app: this.app, flags}),
      agentVersion: await this.#agentVersion(given),
    });
    const {generated, copied, ...images} = found;
    if (generated.recommendation)
      this.say(
        chosenText(generated.recommendation, flagsToRepeat(generated.settings), this.screen),
      );
    this.report(images.warnings);
    const source = given.get(chartSource);
    const chart = {...generated.target, ...(source === undefined ? {} : {source})};
    const signature = await signatureOf(chart, flags.verify, {app: this.app, flags});
    this.say(signatureText(signature));
    const copies = images.images.flatMap(({mirror, ...image}) =>
      mirror === undefined ? [] : [{...image, mirror}],
    );
    const commands = images.registry === undefined ? undefined : copyCommands(copies);
    const use = useOf('the copies', given, {
      target: generated.target,
      flags: flagsToRepeat(copied),
    });
    const text =
      flags.format === LAYOUT
        ? layoutOf(images)
        : imagesText(images, commands, use, this.resultScreen);
    const file = await this.writeOut(text, flags, {print: () => this.show(text)});
    return {...images, ...(commands ? {commands} : {}), ...(signature ? {signature} : {}), ...file};
  }

  /** The agent version of a chart on this machine. */
  async #agentVersion(settings: Settings): Promise<string | undefined> {
    const source = settings.get(chartSource);
    if (
      source === undefined ||
      /^[a-z]+:\/\//i.test(source) ||
      (await this.app.files.kindOf(source)) === 'nothing'
    )
      return undefined;
    return readMetadata(source, (await this.app.charts.read(source)).chart).appVersion;
  }
}

function layoutOf({chart, chartVersion, registry, images}: InstallImages): string {
  const copies = images.map(({image, mirror}) => ({
    image,
    path:
      registry === undefined || mirror === undefined ? image : mirror.slice(registry.length + 1),
  }));
  return layoutScript({title: `images of ${chart} ${chartVersion}`, copies, registry});
}
