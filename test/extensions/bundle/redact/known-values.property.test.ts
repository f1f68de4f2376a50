import fc from 'fast-check';
import {expect, test} from 'vitest';
import {canonicalOf} from '../../../../src/extensions/bundle/redact/canonical.ts';
import {formsOf, leakFinder} from '../../../../src/extensions/bundle/redact/leak-check.ts';
import {numRuns} from '../../../support/sample.ts';
import {known, redacted, redactorOf} from './helpers.ts';
import {writings} from './known-secrets.ts';

/** A part that is found also if it stands alone. */
const part = fc.stringMatching(/^[A-Z]\d[a-z][\w@:,;%]{6,12}$/);

const value = fc.oneof(
  fc.string({minLength: 6, maxLength: 80}),
  fc.string({minLength: 6, maxLength: 40, unit: fc.constantFrom(...'ab1"\'\\/%&+=<>@:$ \n-_.é日')}),
  fc
    .tuple(part, fc.constantFrom('[1m', '[31;4m', '^[[2K', '\\x1b[0m', '[', '[[3m'), part)
    .map((parts) => parts.join('')),
  fc.stringMatching(/^[A-Za-z0-9+/]{6,60}={0,2}$/),
  fc.stringMatching(/^[\w.~-]{6,90}$/),
);

/** What could be the beginning of an escape would change the value. */
const before = fc.string({maxLength: 5}).filter((text) => !/[%&\\][\w#]*$/.test(text));

/** `%a` before `0`: read as one escape, which a value of fewer than ten bytes does not survive. */
const completesEscape = (text: string, right: string): boolean =>
  canonicalOf(Buffer.from(text)).length < 10 && /[%&\\][\w#]*$/.test(text) && /^[\w#;]/.test(right);

test('no value survives in any writing, whatever it is made of', async () => {
  await fc.assert(
    fc.asyncProperty(value, before, fc.string({maxLength: 5}), async (text, left, right) => {
      const knownSecrets = known({value: text});
      fc.pre(knownSecrets.known.length === 1 && !completesEscape(text.trim(), right));
      const through = redactorOf({value: text});
      for (const [name, written] of writings(text.trim())) {
        const output = redacted(through, [Buffer.from(`${left}${written}${right}`, 'latin1')]);
        const latin1 = Buffer.from(text.trim(), 'utf8').toString('latin1');
        const left2 = [...formsOf(latin1)]
          .filter(([, form]) => output.toString('latin1').includes(form))
          .map(([form]) => form);
        expect([name, left2, await leakFinder(knownSecrets.known)([output])]).toEqual([
          name,
          [],
          [],
        ]);
      }
    }),
    {numRuns: numRuns(50)},
  );
});
