declare module '*.md';
declare module '*.gotmpl';
declare module '*.tf';
declare module '*.sh';
