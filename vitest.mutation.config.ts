import {defineConfig} from 'vitest/config';
import {templateFiles} from './scripts/template-files.ts';

/** Folders with tests of the pure rooms, and tests of commands that are mostly about them, for `npm run mutation`. */
const FOLDERS = [
  'answers',
  'charts',
  'checks',
  'documents',
  'extensions/bundle',
  'findings',
  'golden',
  'settings',
  'values',
];
const COMMANDS = ['assignments', 'explain', 'migrate', 'validate', 'values', 'values-file', 'vcs'];

export default defineConfig({
  plugins: [templateFiles],
  test: {
    include: [
      ...FOLDERS.map((folder) => `test/${folder}/**/*.test.ts`),
      ...COMMANDS.map((name) => `test/commands/${name}.test.ts`),
    ],
    // They try thousands of cases.
    exclude: [
      '**/*.property.test.ts',
      '**/perturbation.test.ts',
      '**/streaming.test.ts',
      '**/linear-time.test.ts',
    ],
    env: {NO_COLOR: '1', CI: 'true'},
    testTimeout: 300_000,
    setupFiles: ['test/support/property-seed.ts'],
  },
});
