/** The three files of a chart that say what its values may be, as texts. */
export interface ChartFiles {
  chart: string;
  values: string;
  schema?: string;
}

/** Charts that lie on the disk: a directory or an archive. */
export interface Charts {
  /** @throws ExpectedError when there is no chart */
  read(source: string): Promise<ChartFiles>;
}
