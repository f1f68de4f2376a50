/**
 * Control sequences and control characters, except for what this program itself writes: colors, and the cursor that it hides. A file, a log
 * or an object of somebody else must not move the cursor, clear the screen or fill the clipboard.
 */
const CONTROL = new RegExp(
  [
    String.raw`\u001B(?!\[(?:(?!8m)\d{1,2}m|\?25[hl]))`,
    String.raw`(?:\[[0-?]*[ -\/]*[@-~]|\][^\u0007\u001B]*(?:\u0007|\u001B\\)?|[^\[\]])?`,
    String.raw`|(?!\r\n)[^\P{Cc}\t\n\u001B]`,
  ].join(''),
  'gu',
);

/** The text for a terminal, without the sequences of others. */
export const printable = (text: string): string => text.replace(CONTROL, '');
