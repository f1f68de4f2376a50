/** What a registry answers about a manifest without credentials. `denied`: it requires authentication. */
export type ManifestAnswer =
  | {state: 'found'; digest?: string}
  | {state: 'missing' | 'denied'}
  /** Unreachable, or not a registry. */
  | {state: 'failed'; because: string};

/** Image registries, asked from this machine. */
export interface Registries {
  /** Requests the headers of a manifest of one of these media types. Never throws. */
  manifest(url: string, types: readonly string[], signal: AbortSignal): Promise<ManifestAnswer>;
}
