import {readFile} from 'node:fs/promises';
import {basename} from 'node:path';

/** Plugins of esbuild that keep the start short: what a command does not use it shall not load. */

/** Whoever imports it gets one of its own: shared, every few lines would be a file that has to be found and read. */
const ownCopy = (importer) => `?${importer.replaceAll('\\', '/').replace(/^.*\/(node_modules|src)\//, '')}`;

/** Importing the module reads every property of process, which takes as long as a command. */
export const globalProcess = {
  name: 'global-process',
  setup({onLoad, onResolve}) {
    onResolve({filter: /^(node:)?process$/}, ({importer}) => ({path: 'process', namespace: 'global', suffix: ownCopy(importer)}));
    onLoad({filter: /.*/, namespace: 'global'}, () => ({contents: 'module.exports = globalThis.process;'}));
  },
};

/** Modules of Node.js that take milliseconds to load, imported by code that seldom runs. */
export const builtinsOnFirstUse = (names) => ({
  name: 'builtins-on-first-use',
  setup({onLoad, onResolve}) {
    onResolve({filter: new RegExp(`^(node:)?(${names.join('|')})$`)}, ({path, namespace, importer}) =>
      namespace === 'builtin' ? {path, external: true} : {path, namespace: 'builtin', suffix: ownCopy(importer), pluginData: {importer}},
    );
    onLoad({filter: /.*/, namespace: 'builtin'}, async ({path, pluginData}) => {
      const user = await readFile(pluginData.importer, 'utf8');
      const used = Object.keys(await import(path)).filter((name) => user.includes(name));
      const getters = used.map((name) => `get ${name}() { return require('${path}').${name}; }`);
      return {contents: `module.exports = {${getters.join(', ')}};`};
    });
  },
});

/** TypeScript's CommonJS requires at the top of a module all it may ever need; here each waits until its name is used. */
export const requiresOnFirstUse = (filter) => ({
  name: 'requires-on-first-use',
  setup({onLoad}) {
    onLoad({filter}, async ({path}) => {
      const names = new Set();
      const contents = (await readFile(path, 'utf8'))
        .replaceAll(/^(?:const|var) (\w+_\d+) = (.*\brequire\(.*\));$/gm, (_, name, required) => {
          names.add(name);
          return `const ${name} = {get module() { return ${required}; }};`;
        })
        .replaceAll(/\b(\w+_\d+)\./g, (use, name) => (names.has(name) ? `${name}.module.` : use));
      return {contents};
    });
  },
});

/** oclif's own log takes long to set up, for nothing unless DEBUG asks for it. */
export const logWhenAsked = {
  name: 'log-when-asked',
  setup({onLoad}) {
    onLoad({filter: /[\\/]debug[\\/]src[\\/]index\.js$/}, () => ({
      contents: "module.exports = process.env.DEBUG ? require('./node.js') : () => () => undefined;",
    }));
  },
};

/** As a text, JSON is read faster than as the code of a module. */
export const parsedJson = (filter) => ({
  name: 'parsed-json',
  setup({onLoad}) {
    onLoad({filter}, async ({path}) => {
      const text = JSON.stringify(JSON.parse(await readFile(path, 'utf8')));
      return {contents: `export default JSON.parse(${JSON.stringify(text)});`};
    });
  },
});

/** Modules that no command reaches; one that is reached after all says so. */
export const leftOut = (filter) => ({
  name: 'left-out',
  setup({onLoad}) {
    onLoad({filter}, ({path}) => ({contents: `throw new Error('${basename(path)} was left out of the bundle, see build.mjs');`}));
  },
});

/** oclif wants to know the platform, and on Windows runs PowerShell to learn of the shell, which nothing here reads. */
export const platformWithoutShell = {
  name: 'platform-without-shell',
  setup({onLoad}) {
    onLoad({filter: /[\\/]wsl-utils[\\/]index\.js$/}, () => ({contents: "export {default as isWsl} from 'is-wsl';"}));
  },
};
