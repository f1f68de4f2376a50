import {looksRandom} from './random-text.ts';

/** Values of secret keys that are not secret. */
const PLAIN =
  /^(?:true|false|yes|no|on|off|null|nil|none|undefined|unset|empty|missing|invalid|required|optional|enabled|disabled|active|inactive|eof|string|str|boolean|bool|number|int|integer|object|array|bytes|any|void|val|arg|seconds|minutes|hours|days|amd64|arm64|~|-+|\|[-+]?|>[-+]?|![A-Za-z]+(?: [|>][-+]?)?|terraform-\d{20,})$/i;
/** Already redacted, or a placeholder. */
const HIDDEN =
  /^(?:\(?sensitive(?: value)?\)?|\((?:known after apply|protected|sensitive[^)]*)\)|\[?(?:hidden|masked|filtered)\]?|\[redacted[^\]]*\]|<?redacted>?|\*{3,}|\*{2,}[\w ]+\*{2,}|[\w=-]*\*{4}.*|x{6,}|\.{3}(?: .*)?|<[a-z][a-z _|-]*>|<set to the key .*|&lt;[a-z _-]*&gt;|\[redacted.*)$/i;
/** References to values elsewhere. */
const REFERENCE =
  /^(?:refs\/[\w./-]+|(?:\(\*[\w.]+\)|\[\][\w.]+|interface \{\})\(nil\)|\$\{[^}]*\}\}?|\{\w+:|--[a-z][a-z-]*|\$\(.*|\*[a-z][a-z_-]*|\*[a-z]+\.\w+|\(?arn:[\w-]*:.*|\$[A-Z_][A-Z0-9_]*|\$[a-z_]+|\{\w{1,32}\}|\{\{.*\}\}|%[A-Za-z_]\w*%|%\(\w+\)s|%[svqd]|\$\d+|\?|:[a-z_]+|\[-[^\]]*\]|VALUE_SPECIFIED_IN_NO_LOG_PARAMETER|(?:PASS|VAL|VALUE|PASSWORD|TOKEN|STRING|ARG|COMMAND|SECRET)(?:WORD)?)$/;
const HCL_REFERENCE =
  /^(?:module\.[\w.-]+\.)?(?:(?:ephemeral|var|local|data|module|each|self|path|count|run)\.|[a-z]+_\w+(?:\[[^\]]*\])?\.[\w-]+(?:\[[^\]]*\])?\.)[\w.[\]"*-]+$/;
/** Code that reads a value: a call, an element, an attribute. */
const CODE =
  /^(?:[A-Za-z_][A-Za-z_.]*\((?:[^()]*|.*\).*)$|[A-Za-z_][A-Za-z_.]*\[\\*["'\w].*\]|(?:self|this|os|process|config|settings|request|req|res|ctx|args|opts|options|params|env|secrets?|vars?|[a-z]+_?[Cc]onfig)\.[A-Za-z_][\w.[\]"']*$)/;
const FILE =
  /^\.{1,2}\/[\w./-]+\.\w{2,5}$|^(?:~|\.{1,2})?\/(?:etc|var|tmp|opt|usr|home|root|run|mnt|data|app|secrets?|certs?|workspace|srv|dev|proc|vault|config)(?:\/[\w.@-]*)*$/;
/** Messages of Terraform about resources whose names look like keys: `random_password.password: Creating...`. */
const PROGRESS =
  /^(?:(?:Still )?[A-Z]?[a-z]{3,12}ing(?:\.{3}| state\b| \[)|[A-Z][a-z]+ (?:complete|succeeded|prepared)\b|Drift detected|Plan to )/i;
/** An address without other content. */
const ADDRESS = /^[a-z][a-z0-9+.-]*:\/\/[\w.:-]+(?:\/[a-z_-]*)*$/;
const OBJECT_NAME = /^[a-z0-9](?:[a-z0-9.-]{0,61}[a-z0-9])?(?:\/[a-z0-9.-]+)?$/;
/** A key that references a key: `tokenSecretKey: token`, `key: client-secret`. */
const KEY_WORDS =
  /^(?:[a-z]+[._-])?(?:token|secret|password|passwd|key|name|value|tls\.(?:key|crt)|ca\.crt|bearer|basic|digest|jwt|auth)$/i;
/** A pod of a Deployment: its hash and its suffix have no vowels. */
const POD = /^[a-z0-9][a-z0-9.-]*-[4-9bcdf]{8,10}-[bcdfghjklmnpqrstvwxz24-9]{5}$/;
const TIME = /^\d{4}-\d\d-\d\d(?:[T ][\d:.]+(?:Z|[+-][\d:]+)?)?$/;

export const isHarmless = (value: string): boolean =>
  value.length < 2 ||
  [PLAIN, HIDDEN, REFERENCE, FILE, PROGRESS, ADDRESS, KEY_WORDS, POD, TIME].some((each) =>
    each.test(value),
  ) ||
  /^\d{1,3}$/.test(value) ||
  /^=?=?v?\d+(?:\.\d+){1,3}$|^ssh-(?:rsa|ed25519|ecdsa) /.test(value) ||
  /^-----BEGIN (?:TRUSTED )?(?:CERTIFICATE|PUBLIC KEY)/.test(value);

/** An expression in Terraform, in a script or in a traceback. */
export const isCode = (value: string): boolean => HCL_REFERENCE.test(value) || CODE.test(value);

export const isObjectName = (value: string): boolean =>
  OBJECT_NAME.test(value) && !looksRandom(value, 16);

/** Words of a sentence: "token: expired", "Bearer authentication". */
export const isProse = (value: string): boolean =>
  /^["'(]?[A-Za-z]?[a-z]*(?:[-_./'][a-z]+)*[)"'.,;:!?]*$/.test(value);

const ERROR_WORDS =
  /^(?:(?:complet|destroy|destruct|modif|read|start|expir|invalid|miss|requir|den|reject|revok|unauth|unknown|unavail|unreach|unexpect|unsupport|forbidden|permission|fail|error|creat|updat|delet|rotat|refresh|renew|verif|accept|load|malform|corrupt|exceed|refus|succe|incorrect|exist)(?:ed|es|s|e|ied|ing|ure|ors|able|ful|ss|orized|ation|y)*|access|authenti?c?(?:ation|ated)|authorization|not|no|found|valid|mismatch|timeout|blank|must|cannot|could|should|does|did|is|are|was|were|has|have|had|been|be|context|connection|signature|domain|ok|pending|ready|the|an?|for|of|to|in|on|by|with|from|at|into|and|or|if|when|but|only|this|that|token|secret|password|credentials?|key|value)$/i;
/** What can stand between the words of a sentence: a number, a path, a name in quotes. */
const BETWEEN =
  /^[("'\\]*(?:\d{1,5}(?:ms|s|m|h|%)?[)"'.,;:]*$|[~.]{0,2}\/|https?:|[\w./:-]+\\*["'][,.;:)]*$)/;
const WORD = /^["'([{]*([A-Za-z][A-Za-z'._/-]*)[\])}"',.;:!?]*$/;

/** An error or a sentence after a colon: all are words, and one of them stands in errors. */
export function isErrorText(text: string): boolean {
  const all = text.trim().split(/\s+/).slice(0, 12);
  const found = all.map((each) => WORD.exec(each)?.[1]);
  if (all.some((each, index) => found[index] === undefined && (index === 0 || !BETWEEN.test(each))))
    return false;
  return (
    found.some((word) => word !== undefined && ERROR_WORDS.test(word)) &&
    (all.length > 1 || ERROR_WORDS.test(found[0] ?? ''))
  );
}

/** Neither a name nor a word. A digest, an id or a key. */
export const isHexOrUuid = (value: string): boolean =>
  /^[0-9a-f]{20,}$|^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(value);

/** A value that is a secret wherever it stands: letters and digits with signs or in both cases, but no name, path, time or version. */
export function looksStrong(value: string): boolean {
  if (
    value.length < 8 ||
    /\s|^-|^[\w.]+=(?!=?$)/.test(value) ||
    isHarmless(value) ||
    !/\d/.test(value) ||
    !/[A-Za-z]/.test(value)
  )
    return false;
  if (
    /^[\w.+-]+:\/\/|^[./~]|^v?\d+(?:[.:_~+-]\w+)*$|^[\w.-]+@[\w.-]+$|^sha\d+:|^[\d.,]+[a-zA-Z]{1,5}$/.test(
      value,
    )
  )
    return false;
  // A digest is not a secret.
  if (isHexOrUuid(value) || /^(?:[A-Za-z]*[-_./])*[0-9a-f]{12,}$|^[0-9a-f]+$/i.test(value))
    return false;
  if (looksRandom(value, 16)) return true;
  if (/^(?:[A-Za-z]+[-_.:/])*[A-Za-z]+[-_.:/]?\d*$/.test(value) || /[()[\]{}/:]/.test(value))
    return false;
  return (
    /[!#$%&*+=?@^~]/.test(value) ||
    (/[a-z]/.test(value) &&
      /[A-Z]/.test(value) &&
      (value.match(/[a-zA-Z](?=\d)|\d(?=[a-zA-Z])/g)?.length ?? 0) > 1)
  );
}

/** A password that people choose: of at least two kinds of characters beside small letters, and no name, path, number or option. */
export const looksChosen = (value: string): boolean =>
  looksStrong(value) ||
  /^(?=.*\d)(?=.*[a-f])(?:[0-9a-f]{32}|[0-9a-f]{48})$/.test(value) ||
  (!/\s|^[-$/.~<{[(]|^\w+=|[/\\:()[\]{}<>=]|\.\w{1,5}$/.test(value) &&
    value.length > 5 &&
    /[a-z]/i.test(value) &&
    [/[A-Z]/, /\d/, /[!#$%&*?@^~+-]/].filter((each) => each.test(value)).length > 1);

/** Three words or more, as in a passphrase. */
export const isPhrase = (value: string): boolean =>
  /^[a-z]{3,12}(?:[-._][a-z]{3,12}){2,5}$/.test(value);

/** What a password can be where one is expected: it looks chosen, or is a passphrase, a word with a number, hex digits or a number. */
export const looksMemorable = (value: string): boolean =>
  looksChosen(value) ||
  isPhrase(value) ||
  /^(?:[a-z]{4,}[._-]?\d{2,}|(?=.*\d)[0-9a-f]{6,})$/i.test(value) ||
  /^[A-Z][a-z]{3,}_[A-Za-z]+$/.test(value);

/** Ends of words that tell how a password is: `mandatory`, `expired`, `insecure`. */
const PROPERTY = /(?:ed|ing|[ai]ble|[ao]ry|[ae]nt|ive|ous|al|ful|less|ly|ic|ure|ion|ty|ment|en)$/;

/** A long word that is neither an error nor a property, where a password is expected. */
export const isOtherWord = (value: string): boolean =>
  /^[a-z]{8,}$/.test(value) && !PROPERTY.test(value) && !isErrorText(value);
