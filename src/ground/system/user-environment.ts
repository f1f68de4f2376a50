import {homedir, userInfo} from 'node:os';

/**
 * oclif reads the shell and the home directory of the user, although nothing here uses them. For a user ID without an entry in /etc/passwd
 * (OpenShift, `docker run --user`), Node.js throws; the home is then the one that container runtimes set.
 */
export function completeEnvironment(env: NodeJS.ProcessEnv): void {
  // On Windows, oclif starts PowerShell to detect the shell.
  if (process.platform === 'win32') env['SHELL'] ??= 'unknown';
  if (env['SHELL'] === undefined && !canRead(userInfo)) env['SHELL'] = '/bin/sh';
  if (!env['HOME'] && !canRead(homedir)) env['HOME'] = '/';
}

function canRead(read: () => unknown): boolean {
  try {
    read();
    return true;
  } catch {
    return false;
  }
}
