import {accessSync, constants, mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Variables for helm, which downloads no chart if it cannot write its cache, and stops if it may not read its configuration. In a container,
 * the home directory is often / or the one of another user. What helm can use is kept.
 */
export class HelmDirectories {
  #temporary: string | undefined;

  variables(env: Environment): Readonly<Record<string, string>> {
    const {HOME: home} = env;
    if (!home || process.platform !== 'linux') return {};
    const needsCache =
      !env['HELM_CACHE_HOME'] &&
      !env['XDG_CACHE_HOME'] &&
      !isWritable(join(home, '.cache', 'helm'));
    const needsConfig =
      !env['HELM_CONFIG_HOME'] && !env['XDG_CONFIG_HOME'] && !allows(home, constants.X_OK);
    if (needsCache || needsConfig) this.#temporary ??= temporaryDirectory();
    const directory = this.#temporary;
    if (directory === undefined) return {};
    return {
      ...(needsCache ? {HELM_CACHE_HOME: join(directory, 'cache')} : {}),
      ...(needsConfig ? {HELM_CONFIG_HOME: join(directory, 'config')} : {}),
    };
  }
}

/** The directory, or the nearest existing one above it, in which it would be created. */
function isWritable(path: string): boolean {
  for (let each = path; ; each = join(each, '../..')) {
    if (allows(each, constants.W_OK)) return true;
    if (allows(each, constants.F_OK) || each === join(each, '../..')) return false;
  }
}

/** Whether this is a directory that allows it; the slash makes a file fail. */
function allows(directory: string, mode: number): boolean {
  try {
    accessSync(`${directory}/`, mode);
    return true;
  } catch {
    return false;
  }
}

/** Removed with the end of the program; undefined if none can be made. */
function temporaryDirectory(): string | undefined {
  try {
    const directory = mkdtempSync(join(tmpdir(), 'scalr-agent-helm-'));
    process.once('exit', () => rmSync(directory, {recursive: true, force: true}));
    return directory;
  } catch {
    return undefined;
  }
}
