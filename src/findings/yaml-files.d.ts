/** The build, and vitest, parse these files. */
declare module '*.yaml' {
  const codes: Readonly<Record<string, import('./catalog.ts').Entry>>;
  export default codes;
}
