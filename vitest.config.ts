import {defineConfig} from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // A tool that colours or a proxy of the developer must not change a golden file.
    env: {NO_COLOR: '1'},
    testTimeout: 60_000,
    hookTimeout: 300_000,
  },
});
