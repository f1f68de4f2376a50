/**
 * True of a tool that is not there, on Windows: what it does not find is handed to its shell, which says so in words of its own language.
 * Elsewhere the system itself says so.
 */
export async function isUnknownToWindows(path: string): Promise<boolean> {
  if (process.platform !== 'win32') return false;
  const {default: which} = await import('which');
  return which.sync(path, {nothrow: true}) === null;
}
