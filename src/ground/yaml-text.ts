/** Unquoted text that a YAML 1.1 parser such as Helm's does not read as a string. */
const NO_TEXT =
  /^(y|n|yes|no|on|off|true|false|null|~|[-+]?(0x[0-9a-f_]+|0b[01_]+|0o?[0-7_]+|[0-9][0-9_]*(:[0-5]?[0-9])*(\.[0-9_]*)?(e[-+]?[0-9]+)?|\.[0-9_]+(e[-+]?[0-9]+)?|\.inf)|\.nan|\d{4}-\d{1,2}-\d{1,2}.*)$/i;

/**
 * True if unquoted text is parsed as a string. The charts render most names without quotes (`name: {{ … }}`), so a Secret
 * named 123 would become a number in the manifest, which Kubernetes rejects.
 */
export const isReadAsString = (text: string): boolean => !NO_TEXT.test(text);

const UNPRINTABLE = /(?![\n\t])[\p{Cc}\p{Zl}\p{Zp}\p{Surrogate}\ufeff\ufffe\uffff]/u;

/** False for characters that YAML parsers and terminals treat differently: control characters, unusual line breaks, surrogates. */
export const isPrintable = (text: string): boolean => !UNPRINTABLE.test(text);

/** Errors of the YAML parser in our words, the more special ones first. */
const MESSAGES: readonly [RegExp, string][] = [
  [/^Tabs are.*/, 'Tabs cannot be used for indentation; use spaces.'],
  [
    /^(Nested mappings|Implicit keys need to be on a single).*/,
    'Mapping values are not allowed here. Quote a value that contains ": ". If the next line is a key of its own, indent it like this line.',
  ],
  [/^Implicit map keys.*/, 'Expected "key: value" or a continuation of the value above.'],
  [
    /^Map keys must be unique.*/,
    'The key is set twice in the same mapping. Remove one of the two.',
  ],
  [/^With stringKeys.*/, 'A key must be a string. Quote it.'],
  [
    /^All (mapping|sequence) items.*/,
    'Wrong indentation: this line is not aligned with the lines above it.',
  ],
  [/^Sequence item without.*/, 'A list item must start with "- ".'],
  [
    /^(The : indicator must|Implicit keys of flow).*/,
    'A key must be on one line and have at most 1024 characters.',
  ],
  [
    /^Missing closing.*/,
    'Missing closing quote, or the quoted text is indented less than its key.',
  ],
  [
    /^Flow .* must be (sufficiently|more).*/,
    '[ or { is not closed, or its lines are not indented more than its key, as YAML requires.',
  ],
  [
    /^(Missing , |Missing space after : in flow|Unexpected (,|empty item|\S+) in flow).*/,
    'Inside [ ] and { }, items are separated by one comma.',
  ],
  [/^Plain value cannot start with .* (.)$/, 'A string that starts with $1 must be quoted.'],
  [
    /^Block scalar header includes.*/,
    'Text after | or > must start on the next line. Move it down, or quote the value and remove the sign.',
  ],
  [
    /^Block scalar.*/,
    'Text below | or > must be indented more than its key, and by the same number of spaces.',
  ],
  [
    /^(Could not resolve tag|Unresolved tag|Not a valid tag|Verbatim tags|The .* tag has).*/,
    'A string that starts with ! must be quoted; YAML reads it as a tag.',
  ],
  [
    /^(Anchor|Alias|An alias|A node can have|Unresolved alias|Tags and anchors).*/,
    'A string that starts with & or * must be quoted; YAML reads it as an anchor or alias.',
  ],
  [/^Unexpected block-seq-ind on same line.*/, 'A list must start on the line below its key.'],
  [
    /^Invalid escape sequence (.*)$/,
    'Unknown escape sequence $1 in double quotes. Double the backslash, or use single quotes.',
  ],
  [
    /^(%|Unknown directive|Unsupported YAML version|Missing directives-end|Unexpected doc).*/,
    'YAML directives and document markers are not supported here. Remove the line.',
  ],
  [/^Excessive alias count.*/, 'The aliases of the file expand to too much data.'],
  [/^.*/s, 'Invalid YAML. Check the indentation, the quotes and the brackets of this line.'],
];

/** A message of the YAML parser in our words, as a sentence. */
export function yamlProblem(message: string): string {
  const [line = ''] = message.split('\n');
  const text = line.replace(/ at line \d+.*/, '').replace(/:$/, '');
  const [pattern, meaning] = MESSAGES.find(([each]) => each.test(text)) as [RegExp, string];
  return text.replace(pattern, meaning);
}
