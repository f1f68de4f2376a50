import {expect, test} from 'vitest';
import {bashWords} from '../../../src/cli/completion/line.ts';

const ENV = {HOME: '/home/ada', DIR: '/etc/kube'};

test.each([
  ['scalr-agent ', ['scalr-agent', '']],
  ['scalr-agent  status   -n  a', ['scalr-agent', 'status', '-n', 'a']],
  ['x "a b"c \'d e\' f\\ g', ['x', 'a bc', 'd e', 'f g']],
  ['x "say \\"hi\\" \\n"', ['x', 'say "hi" \\n']],
  ['x ~/.kube/config a~b ~ada', ['x', '/home/ada/.kube/config', 'a~b', '~ada']],
  [
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of the shell
    'x $DIR/a ${DIR}/b "$DIR/c" \'$DIR\' \\$DIR "\\$DIR" $NOWHERE/d',
    ['x', '/etc/kube/a', '/etc/kube/b', '/etc/kube/c', '$DIR', '$DIR', '$DIR', '/d'],
  ],
  ['x $(rm -rf /) `rm -rf /` y', ['x', '$(rm -rf /)', '`rm -rf /`', 'y']],
  ['x a > out b', ['x', 'a', 'b']],
  ['x a 2>/dev/null >>log b', ['x', 'a', 'b']],
  ['x a2>b c', ['x', 'a2', 'c']],
  ['x ""', ['x', '']],
  ['x ü"ö', ['x', 'üö']],
  ['x a\\', ['x', 'a']],
])('%s', (line, words) => {
  expect(bashWords(line, '', ENV).words).toEqual(words);
});

test.each([
  ['x --cache=pv', 'pv', '--cache=', ''],
  ['x --cache=', '', '--cache=', ''],
  ['x --cache="pv', 'pv', '--cache=', '"'],
  ["x 'my co", 'my co', '', "'"],
  ['x my\\ co', 'my\\ co', '', ''],
  ['x "a b"c', '"a b"c', '', ''],
  ['x arn:aws:eks', 'eks', 'arn:aws:', ''],
  ['x $DIR/a', '$DIR/a', '', ''],
])('%s: what stands before %j, which bash replaces', (line, replaced, kept, quote) => {
  expect(bashWords(line, replaced, ENV)).toMatchObject({kept, quote});
});

test.each([
  ['x a > ', true],
  ['x a > fi', true],
  ['x a 2>fi', true],
  ['x a > file ', false],
  ['x a ">', false],
])('%s: a file that bash writes or reads: %s', (line, isRedirected) => {
  expect(bashWords(line, '', {}).isRedirected).toBe(isRedirected);
});
