import {type Recommendation, recommend} from '../charts/recommend.ts';
import {BaseCommand} from '../cli/base-command.ts';
import {answersFlag, connectionFlags, fromClusterFlag, settingFlags} from '../cli/flags.ts';
import {url} from '../settings/agent.ts';
import {catalogue} from '../settings/catalogue.ts';
import {recommendationText, sizingText} from '../ui/messages.ts';
import {type Sizing, sizing} from '../values/sizing.ts';

type Result = Recommendation & {sizing: Sizing};

export default class Recommend extends BaseCommand<Result> {
  static override summary = 'Recommend a chart, and compare it with the other two.';
  static override description = 'Requires no cluster. Accepts every setting of "values"; none is required.';
  static override examples = ['<%= config.bin %> <%= command.id %> --isolation per-run --cloud eks --concurrency 10'];
  static override flags = {
    ...fromClusterFlag,
    ...answersFlag,
    ...settingFlags(catalogue, {chart: 'Without effect: all three charts are compared.'}),
    ...connectionFlags,
  };

  override async run(): Promise<Result> {
    const {flags} = await this.parse(Recommend);
    const cluster = await this.clusterOf(flags);
    const settings = await this.settingsFrom(flags, {optional: [url], cluster});
    const recommendation = recommend(settings, cluster?.facts);
    const size = sizing(settings, recommendation.chart);
    if (!this.jsonEnabled()) this.show(`${recommendationText(recommendation, this.resultScreen)}\n${sizingText(size, this.resultScreen)}`);
    return {...recommendation, sizing: size};
  }
}
