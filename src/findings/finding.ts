export * from '../ground/finding.ts';
