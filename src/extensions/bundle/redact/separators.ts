/** ANSI colors, plain and in JSON. */
export const ESCAPE = String.fromCharCode(27);
export const COLOR = String.raw`(?:(?:${ESCAPE}|\\+(?:u001b|x1b|033|e))\[[\d;]{0,16}m)`;

/** A color or another control sequence of a terminal: plain, in a string, as text, or without its first character. */
export const CONTROL = new RegExp(
  String.raw`(?:${ESCAPE}|(?<!\\)\\{1,8}(?:u001[bB]|x1[bB]|033|e)|\^\[)\[[\d;:]{0,24}[A-Za-z]|\[\d{1,3}(?:;\d{1,3}){0,4}m(?=\w|$|[=: ])`,
  'g',
);

/** The time of a kubelet at the beginning of a line. */
export const STAMP = String.raw`(?:\d{4}-\d\d-\d\dT[\d:.]{8,20}(?:Z|[+-]\d\d:\d\d)[ \t](?:std(?:out|err) [FP] )?)`;

/**
 * The end of a line and what a log writes before the next one: nothing, the time of a kubelet, or the beginning of a JSON message;
 * in a string, an escaped line break.
 */
export const NEXT_LINE = [
  String.raw`(?:(?:\\+r)?\\+n(?:\\*"[^\n]{0,200}\r?\n[^\n]{0,80}?"(?:log|msg|message|event|line)\\*": ?\\*")?`,
  String.raw`\r?\n${STAMP}?)`,
].join('|');

/** What separates two words of a command: blanks, a line that continues, NUL, and what separates items of a list in JSON, YAML and Go. */
export const WORD_GAP = [
  String.raw`(?:,?[ \t]+(?:\\+(?:${NEXT_LINE})[ \t]*)?`,
  String.raw`\\*["'],?(?:[ \t]|${NEXT_LINE}){0,60}(?:a\d{1,3}=)?(?=\\*["'])`,
  String.raw`(?:\\*["'])?(?:${NEXT_LINE})[ \t]*- +`,
  String.raw`\0)`,
].join('|');
