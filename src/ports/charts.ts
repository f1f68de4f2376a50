/** The three files of a chart that describe its values, as text. */
export interface ChartFiles {
  chart: string;
  values: string;
  schema?: string;
}

/** Charts on the disk: a directory or an archive. */
export interface Charts {
  /** @throws ExpectedError if no chart is found */
  read(source: string): Promise<ChartFiles>;
}
