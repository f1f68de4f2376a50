/** The image to extend: of runs, of the agent, or of one tool and version, in which agents without a runner image start runs. */
export const BASES = ['runner', 'agent', 'terraform'] as const;
export type ImageBase = (typeof BASES)[number];

/** What the image gets in addition to certificates. */
export interface Additions {
  base?: ImageBase | undefined;
  /** Packages of the distribution. */
  packages: readonly string[];
  /** Directory with provider plugins, laid out as a filesystem mirror. */
  plugins?: string | undefined;
}
