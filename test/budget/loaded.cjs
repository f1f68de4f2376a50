// Writes down at the end what a program has loaded; `node --require` takes it.
const bare = new Set(process.moduleLoadList);
process.on('exit', () => {
  const builtins = process.moduleLoadList
    .filter((name) => !bare.has(name))
    .flatMap((name) => /^NativeModule ((?!internal\/).*)$/.exec(name)?.[1] ?? []);
  require('node:fs').writeFileSync(process.env.LOADED_TO, JSON.stringify({files: Object.keys(require.cache), builtins}));
});
