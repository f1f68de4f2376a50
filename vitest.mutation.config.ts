import {defineConfig} from 'vitest/config';
import {templateFiles} from './scripts/template-files.ts';

/** Tests of the pure rooms for `npm run mutation`, without those that try thousands of cases. */
const ROOMS = ['charts', 'settings', 'values', 'findings', 'extensions/bundle', 'checks/diagnose'];

export default defineConfig({
  plugins: [templateFiles],
  test: {
    include: ROOMS.map((room) => `test/${room}/**/*.test.ts`),
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
