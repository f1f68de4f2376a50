import {type ClusterChoice, type Recommendation, recommend} from '../charts/recommend.ts';
import {BaseCommand} from '../cli/base-command.ts';
import {fromClusterFlag, optionalClusterFlags} from '../cli/connection-flags.ts';
import {answersFlag, overlayFlag} from '../cli/flags.ts';
import {checksOfConnection} from '../cli/local-inputs.ts';
import {clusterChoices, sharedSettings} from '../cli/overlay.ts';
import {settingFlags} from '../cli/setting-flags.ts';
import {url} from '../settings/agent.ts';
import {catalog} from '../settings/catalog.ts';
import {target} from '../settings/release.ts';
import {clusterChoicesText, recommendationText, sizingText} from '../ui/requirements.ts';
import {type Sizing, sizing} from '../values/sizing.ts';

type Result = Recommendation & {sizing: Sizing; clusters?: ClusterChoice[]};

export default class Recommend extends BaseCommand<Result> {
  static override summary = 'Recommend a chart, and compare it with the other two.';
  static override description =
    'Requires no cluster. Accepts every setting of "values"; none is required.';
  static override examples = [
    '<%= config.bin %> <%= command.id %> --isolation per-run --cloud eks --concurrency 10',
  ];
  static override flags = {
    ...fromClusterFlag,
    ...answersFlag,
    ...overlayFlag,
    ...settingFlags(catalog, {chart: 'Without effect: all three charts are compared.'}),
    ...optionalClusterFlags,
  };

  override async run(): Promise<Result> {
    const {flags} = await this.parse(Recommend);
    const {overlay: directory, answers} = flags;
    const tools = flags['from-cluster'] ? (['kubectl'] as const) : [];
    await this.requireLocal(
      flags,
      {certain: checksOfConnection(tools, flags, this.app)},
      directory === undefined ? {optional: [url]} : {only: [target]},
    );
    const cluster = await this.clusterOf(flags);
    const source =
      directory === undefined
        ? undefined
        : {directory, answers, sources: await this.sourcesFrom(flags), app: this.app};
    const settings = source
      ? await sharedSettings(source.sources, this.app)
      : await this.settingsFrom(flags, {optional: [url], cluster});
    const clusters = source && (await clusterChoices(source));
    const recommendation = recommend(settings, cluster?.facts);
    const size = sizing(settings, recommendation.chart);
    if (!this.jsonEnabled())
      this.show(
        `${recommendationText(recommendation, this.resultScreen)}\n${sizingText(size, this.resultScreen)}${clusters ? `\n${clusterChoicesText(clusters, this.resultScreen)}` : ''}`,
      );
    return {...recommendation, sizing: size, ...(clusters ? {clusters} : {})};
  }
}
