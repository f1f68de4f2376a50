import {expect, test} from 'vitest';
import {catalogue} from '../../src/settings/catalogue.ts';

test('every id is declared once', () => {
  const ids = catalogue.map(({id}) => id);
  expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
});

test('a raw token has a variable and neither flag nor answers key', () => {
  expect(catalogue.filter(({onlyEnv}) => onlyEnv).map(({id, env}) => [id, env])).toEqual([['token', 'SCALR_AGENT_TOKEN']]);
});

test.each(
  catalogue.map((setting) => [setting.id, setting] as const),
)('%s can be asked, explained and spelled as a variable', (id, setting) => {
  expect(setting.question.length).toBeGreaterThan(8);
  expect(setting.summary).toMatch(/\.$/);
  expect(setting.kind.jsonSchema).toBeTypeOf('object');
  if (!setting.onlyEnv) expect(setting.env).toBe(`SCALR_AGENT_INSTALL_${id.toUpperCase().replaceAll('-', '_')}`);
});
