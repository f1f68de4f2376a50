/** Names of files in the bundle without secrets. A placeholder in a name has only characters that every system accepts. */
export function fileNames(clean: (text: string) => string): (name: string) => string {
  const names = new Map<string, string>();
  const used = new Set<string>();
  return (name) => {
    const before = names.get(name);
    if (before !== undefined) return before;
    const cleaned = clean(name).replace(/\[redacted:([\w-]+):(\w+)\]/g, 'redacted-$1-$2');
    let unique = cleaned;
    for (let copy = 2; used.has(unique); copy += 1) unique = cleaned.replace(/(?=\.[^./]*$|$)/, `-${copy}`);
    used.add(unique);
    names.set(name, unique);
    return unique;
  };
}
