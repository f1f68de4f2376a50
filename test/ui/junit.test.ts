import {expect, test} from 'vitest';
import {junit} from '../../src/ui/junit.ts';
import {checkedFile, checkedLayers, LOSER, MISSING, UNKNOWN} from './checked.ts';

test('a suite per file, a failure per error, and text for a warning', () => {
  expect(
    junit([checkedFile('a.yaml', [UNKNOWN, LOSER]), checkedFile('b.yaml')], 'scalr-agent validate'),
  ).toBe(
    `<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="scalr-agent validate" tests="3" failures="1" errors="0">
  <testsuite name="a.yaml" tests="2" failures="1" errors="0">
    <testcase classname="a.yaml" name="UNKNOWN_KEY agent.tokne">
      <failure message="agent-job has no key &lt;tokne&gt; &amp; &quot;co&quot;." type="UNKNOWN_KEY">a.yaml:3:5: agent.tokne: agent-job has no key &lt;tokne&gt; &amp; &quot;co&quot;. → agent.token</failure>
    </testcase>
    <testcase classname="a.yaml" name="KEY_OVERRIDDEN agent.token">
      <system-out>warning a.yaml:4:5: agent.token: This token is dropped.</system-out>
    </testcase>
  </testsuite>
  <testsuite name="b.yaml" tests="1" failures="0" errors="0">
    <testcase classname="b.yaml" name="agent-job 0.6.5"/>
  </testsuite>
</testsuites>
`,
  );
});

test('layers are suites of their own; what is missing belongs to the one that wins', () => {
  const xml = junit([checkedLayers(['base.yaml', 'over.yaml'], [MISSING])], 'validate');
  expect(xml).toContain('<testsuite name="base.yaml" tests="1" failures="0"');
  expect(xml).toContain('<testsuite name="over.yaml" tests="1" failures="1"');
});

test('what XML cannot hold is replaced, in texts and attributes', () => {
  const odd = {
    ...UNKNOWN,
    subject: {...UNKNOWN.subject, path: 'a\u0000b'},
    message: 'bell \u0007, half \ud800 of a pair, \uffff, and a face 😀\nnext "line"',
    remedies: [{text: "it's\ttabbed"}],
  };
  const xml = junit([checkedFile('x<&>\u001b.yaml', [odd])], 'validate');
  expect(xml).not.toMatch(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/u);
  expect(xml).toContain('<testsuite name="x&lt;&amp;&gt;\uFFFD.yaml"');
  expect(xml).toContain('name="UNKNOWN_KEY a\uFFFDb"');
  expect(xml).toContain(
    'message="bell \uFFFD, half \uFFFD of a pair, \uFFFD, and a face 😀 next &quot;line&quot;"',
  );
});

test('a finding that looks like a value is still text', () => {
  const xml = junit(
    [
      checkedFile('true', [
        {...MISSING, subject: {path: ''}, message: 'true', remedies: [{text: '1.0'}]},
      ]),
    ],
    'validate',
  );
  expect(xml).toContain('classname="true"');
  expect(xml).toContain('message="true"');
});
