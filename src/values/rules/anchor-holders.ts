/** A top-level key that only defines anchors for the rest of a file: `x-resources`, `.tolerations`. Charts ignore it. */
export const isAnchorHolder = (key: string): boolean => /^(?:x-|\.)./.test(key);
