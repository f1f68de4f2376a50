/** The build, and vitest, parse these files. */
declare module '*.yaml' {
  const codes: Readonly<Record<string, import('./catalog.ts').CatalogEntry>>;
  export default codes;
}
