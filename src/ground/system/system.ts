import type {Call} from '../call.ts';
import type {ProcessResult} from '../command-line.ts';
import type {ReadError} from '../fact.ts';

export interface Running {
  outcome: Promise<ProcessResult>;
  /** Sends SIGINT. The process is never killed. */
  interrupt(): void;
  /** This program can exit while the call continues. */
  leave(): void;
}

/** The tools of the user. */
export interface Processes {
  /** For read-only calls: they end with this program and with the signal. @throws ExpectedError if the tool is not found */
  run(call: Call, options?: {signal?: AbortSignal}): Promise<ProcessResult>;
  /** For calls with changes. */
  start(call: Call): Running;
}

/**
 * Ctrl-C and other signals: the first one requests a clean exit, the second one an immediate exit. The abort reason is the
 * name of the signal.
 */
export interface Interrupts {
  interrupt: AbortSignal;
  forceQuit: AbortSignal;
  /** Removes the signal handlers. */
  release(): void;
}

/** One read-only call of a tool of this machine. */
export interface HostCall {
  tool: 'docker' | 'journalctl' | 'systemctl' | 'df' | 'git';
  args: readonly string[];
}

/** `stdout` contains the output until the failure. */
export type HostAnswer = {stdout: string; error?: HostError};
/** The message of a known error has its cause and its remedy. */
export type HostError = ReadError & {isToolMissing?: true; reason?: string; remedy?: string};

/** Docker, systemd and disks of this machine. Failures are returned, not thrown. */
export interface HostTools {
  /** For small outputs. */
  run(call: HostCall, options: {signal: AbortSignal}): Promise<HostAnswer>;
  /** For logs of any size: complete lines of standard output, and of standard error with `isLogOnBoth`. */
  stream(
    call: HostCall,
    options: {signal: AbortSignal; isLogOnBoth?: boolean},
  ): Promise<LogStream | {error: HostError}>;
}

/** A log while it is read. */
export interface LogStream {
  /** Never throws; `end` resolves to the reason if the log is incomplete. The source is closed when the reader stops. */
  chunks: AsyncIterable<Buffer>;
  /** Why the log is incomplete; undefined if it is complete. Resolves after `chunks`. */
  end: Promise<ReadError | undefined>;
  error?: undefined;
}

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

/** Flags with the path of an output file or directory. */
export type PlaceFlag = '--out' | '--save' | '--schema';

/** File operations. Paths are relative to the working directory. */
export interface FileOptions {
  isPrivate: boolean;
  makesDirectory?: boolean;
  flag?: PlaceFlag;
}

export interface Files {
  /** @throws ExpectedError if the file does not exist, is not readable or is too large */
  read(path: string): Promise<Buffer>;
  readStdin(): Promise<Buffer>;
  /** Type of the path; `stream` is a pipe or a device. */
  kindOf(
    path: string,
    flag?: PlaceFlag,
  ): Promise<'file' | 'stream' | 'directory' | 'broken-link' | 'nothing'>;
  /**
   * Writes atomically. An existing file is replaced and keeps its permissions, except that only the owner can read a
   * private file. `makesDirectory` creates a missing directory for the owner only. Errors suggest another path for `flag`. @throws ExpectedError
   */
  write(path: string, text: string, options: FileOptions): Promise<void>;
  /** Names in a directory; directories end with a slash. Empty if the directory cannot be read. */
  list(path: string): Promise<readonly string[]>;
  /** Removes the path if it exists. @throws ExpectedError */
  remove(path: string): Promise<void>;
}

/** What describes the values of a chart, as text. */
interface ChartFiles {
  chart: string;
  values: string;
  schema?: string;
  templates: string;
}

/** Charts on the disk: a directory or an archive. */
export interface Charts {
  /** @throws ExpectedError if no chart is found */
  read(source: string): Promise<ChartFiles>;
  /** The archive that `pull` writes to a temporary directory, which is removed with the end of the program. */
  download(pull: (directory: string) => Promise<void>): Promise<string>;
}

/** One file of an archive, as the manifest lists it. */
export interface ArchiveEntry {
  name: string;
  /** Before compression. */
  bytes: number;
  sha256: string;
}

/** An archive while it is written. It gets its final name on close; a failure removes it. */
export interface Archive {
  /**
   * Adds one file. Concurrent calls are written one after another; a source that starts slowly does not block the
   * others. @throws ExpectedError if the file cannot be written
   */
  add(name: string, source: AsyncIterable<Buffer> | Buffer): Promise<ArchiveEntry>;
  /**
   * Adds the manifest, passes the archive to `check` and renames it. If `check` returns another archive that it wrote instead, this one
   * is removed. Rethrows errors of `check`. @throws ExpectedError
   */
  close(options: CloseOptions): Promise<ClosedArchive>;
  /** Removes everything written so far. Can be called twice. */
  abort(): Promise<void>;
}

export interface CloseOptions {
  manifest(entries: readonly ArchiveEntry[]): string;
  check?(archive: OpenArchive): Promise<ClosedArchive | undefined>;
}

export interface ClosedArchive {
  bytes: number;
  /** Sorted by name, without the manifest. */
  entries: readonly ArchiveEntry[];
}

/** An archive while it is read. Its content is untrusted. */
export interface OpenArchive {
  /** Names and uncompressed sizes from the archive, in its order. */
  entries: readonly {name: string; bytes: number}[];
  /** Content of one file, at most its stated size. Files can be read concurrently. @throws ExpectedError if it is damaged or missing */
  read(name: string): AsyncIterable<Buffer>;
  close(): void;
}

export interface Archives {
  /** @throws ExpectedError if the path is not writable */
  create(path: string): Promise<Archive>;
  /** @throws ExpectedError if the file is not an archive, damaged or unsafe */
  open(path: string): Promise<OpenArchive>;
}

interface Question {
  message: string;
  /** The first line stands below the question; a screen reader hears all lines on request. */
  help: readonly string[];
  /** Details below the question. An answer to a question without them is shown when it is given. */
  heading?: readonly string[] | undefined;
  /** Source of the default, or the meaning of an empty answer. */
  note?: string | undefined;
  /** Esc rejects the question with GoBack. Otherwise Esc does nothing. */
  canGoBack?: boolean | 'quit' | undefined;
}

export interface TextQuestion extends Question {
  /** What the text is recognized as, shown while it is typed; undefined for an incomplete text. */
  confirms?(text: string): string | undefined;
  /** Error message for the trimmed text; undefined if it is valid. Called after Enter. */
  validate?(text: string): string | undefined | Promise<string | undefined>;
}

export interface InputQuestion extends TextQuestion {
  /** The answer to an empty line. */
  default?: string | undefined;
  /** The default is inserted into the line and can be edited or removed. */
  isPrefilled?: boolean;
}

export interface Choice {
  value: string;
  label: string;
  description?: string | undefined;
  /** Why it cannot be chosen. */
  disabled?: string | undefined;
}

export interface ListQuestion extends Question {
  choices: readonly Choice[];
  /** Replace the choices when they are known. Labels and number must not change. */
  laterChoices?: Promise<readonly Choice[]>;
  default?: string | undefined;
  /** Its default changes something: an Enter that was pressed for an earlier question, or is held down, does not answer it. */
  isConsequential?: boolean;
}

/** Prompts on the terminal. @throws PromptCanceled, GoBack */
export interface Prompter {
  /** False if lines cannot be erased: then the caller prints what `heading` would show. */
  canRedraw: boolean;
  /** The default is no, and so is Esc, unless it rejects the question with GoBack. */
  confirm(message: string, canGoBack?: boolean): Promise<boolean>;
  /** Returns the trimmed text. */
  input(question: InputQuestion): Promise<string>;
  /** An input that hides the text and shows its length. */
  password(question: TextQuestion): Promise<string>;
  /** Returns the value of one choice. */
  select(question: ListQuestion): Promise<string>;
  /** A select for long lists: typing filters the choices. */
  search(question: ListQuestion): Promise<string>;
  /** Shows a spinner until the promise settles; keys are ignored. */
  wait<T>(message: string, promise: Promise<T>): Promise<T>;
  /** Keeps the terminal from echoing until the work is done. `above` is what must be printed again above a question after a resize. */
  session<T>(work: () => Promise<T>, above: () => string): Promise<T>;
  /** Erases the last lines that were printed above the question. Does nothing without `canRedraw`. */
  erase(lines: number): void;
}
