/** The build, and vitest, read these files as text. */
declare module '*.yaml';
