import {expect, test} from 'vitest';
import {explanations} from '../../src/findings/catalog.ts';
import {catalog} from '../../src/settings/catalog.ts';
import {ROLE} from '../../src/wizard/ask-role.ts';
import {FIXES} from '../../src/wizard/fixes.ts';

const CODES = explanations().map(({code}) => code);

test.each(
  Object.entries(FIXES),
)('%s is a code of the catalog, and is fixed by a question', (code, fix) => {
  expect(CODES).toContain(code);
  expect([ROLE, ...catalog.map(({id}) => id)]).toContain(fix);
});
