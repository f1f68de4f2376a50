import {expect, test} from 'vitest';
import {
  environmentFilesIn,
  environmentIn,
  parseEnvironmentFile,
} from '../../src/ground/system/systemd.ts';

// What systemd 252 prints and reads; test/engines/systemd.engine.ts compares with the systemd of the machine.
test('reads the variables and the files of systemctl show', () => {
  const text = [
    String.raw`Environment=SCALR_URL=https://acme.scalr.io "A=x y" "B=it\"s \$HOME \\ back" C=50%off "D=a\nb"`,
    'EnvironmentFiles=/etc/scalr agent/a.env (ignore_errors=no)',
    'EnvironmentFiles=/etc/b.env (ignore_errors=yes)',
  ].join('\n');
  expect(environmentIn(text)).toEqual([
    {name: 'SCALR_URL', value: 'https://acme.scalr.io'},
    {name: 'A', value: 'x y'},
    {name: 'B', value: 'it"s $HOME \\ back'},
    {name: 'C', value: '50%off'},
    {name: 'D', value: 'a\nb'},
  ]);
  expect(environmentFilesIn(text)).toEqual([
    {path: '/etc/scalr agent/a.env', isOptional: false},
    {path: '/etc/b.env', isOptional: true},
  ]);
});

test.each([
  ['A=one two ', 'one two'],
  ['A = spaced', 'spaced'],
  ['A=', ''],
  ['A="a \\"b\\" c"', 'a "b" c'],
  ["A='x\ny'", 'x\ny'],
  ["A='a\\b'", 'a\\b'],
  ['A="a\\b"', 'a\\b'],
  ['A="$HOME \\$x"', '$HOME $x'],
  ['A=a\\b c\\\n d', 'ab c d'],
  ['A="l1 \\\nl2" \'x\'tail', 'l1 l2xtail'],
  ['A=a"b"', 'a"b"'],
  ['A=v # no comment', 'v # no comment'],
])('reads %j of an EnvironmentFile as systemd does', (text, value) => {
  expect(parseEnvironmentFile(`# B=no\n;B=no\n${text}\nno line\n`)).toEqual([{name: 'A', value}]);
});
