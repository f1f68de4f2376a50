/** The build, and vitest, parse these files. */
declare module '*.yaml';
