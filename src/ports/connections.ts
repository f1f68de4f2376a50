export interface ConnectionRequest {
  host: string;
  port: number;
  /** HTTPS; otherwise a TCP connection. */
  isTls: boolean;
  /** URL of an HTTP proxy. */
  proxy?: string | undefined;
  /** PEM of the CAs to trust, instead of the public ones. */
  ca?: string | undefined;
  /** Client certificate and key, PEM. */
  client?: {certificate: string; key: string} | undefined;
}

export interface ConnectionAnswer {
  /** `proxy` is a refusal of the proxy, `proxy-…` a failure on the way to it; `failed` is any other failure. */
  state:
    | ('ok' | 'dns' | 'refused' | 'timeout' | 'tls' | 'untrusted' | 'failed')
    | ('proxy' | 'proxy-dns' | 'proxy-refused' | 'proxy-timeout' | 'proxy-failed');
  /** Status of a proxy that refused, issuer of a certificate that is not trusted, otherwise the error; empty if there is none. */
  detail: string;
}

/** Connections from this machine. */
export interface Connections {
  /** Connects and closes: sends no request and no token. Never throws; ends with the signal. */
  open(request: ConnectionRequest, signal: AbortSignal): Promise<ConnectionAnswer>;
}

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
