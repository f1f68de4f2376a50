/** Values that stand where a secret would and are none. */
const PLAIN = /^(?:true|false|yes|no|on|off|null|nil|none|undefined|unset|empty|missing|invalid|required|optional|~|-+|\|[-+]?|>[-+]?)$/i;
/** What somebody else hid already, or is to fill in. */
const HIDDEN =
  /^(?:\(?sensitive(?: value)?\)?|\((?:known after apply|sensitive[^)]*)\)|\[?(?:hidden|masked|filtered)\]?|\[redacted[^\]]*\]|<?redacted>?|\*{3,}|x{6,}|\.{3}(?: .*)?|<[^<>]*>|<set to the key .*|&lt;.*&gt;|\[redacted.*)$/i;
/** References: the value is elsewhere. */
const REFERENCE = /^(?:\$\{[^}]*\}|\$\([^)]*\)|\$[A-Z_][A-Z0-9_]*|\$[a-z]+(?:[-.][a-zA-Z]+)+|\{\{.*\}\}|%[A-Za-z_]\w*%)$/;
const HCL_REFERENCE =
  /^(?:(?:var|local|data|module|each|self|path|count|run)\.|[a-z]+_\w+(?:\[[^\]]*\])?\.[\w-]+(?:\[[^\]]*\])?\.)[\w.[\]"*-]+$/;
const HCL_CALL = /^[A-Za-z_][\w.]*\((?:.*\)|[{["]?)$/;
const FILE =
  /^(?:~|\.{1,2})?\/(?:etc|var|tmp|opt|usr|home|root|run|mnt|data|app|secrets?|certs?|workspace|srv|dev|proc|vault|config)(?:\/[\w.@-]*)*$/;
/** What Terraform says of a resource whose name looks like a key: `random_password.password: Creating...`. */
const PROGRESS =
  /^(?:(?:Still )?(?:creating|refreshing|reading|modifying|destroying|opening|closing|importing|preparing|provisioning|renewing)\b|(?:Creation|Read|Modifications|Destruction|Opening|Closing|Import|Refresh) (?:complete|succeeded|prepared)|Drift detected|Plan to )/i;
/** An address that holds nothing else. */
const ADDRESS = /^[a-z][a-z0-9+.-]*:\/\/[\w.:-]+(?:\/[a-z_-]*)*$/;
const OBJECT_NAME = /^[a-z0-9](?:[a-z0-9.-]{0,61}[a-z0-9])?(?:\/[a-z0-9.-]+)?$/;
/** A key that names a key: `tokenSecretKey: token`, `key: client-secret`. */
const KEY_WORDS =
  /^(?:[a-z]+[._-])?(?:token|secret|password|passwd|key|name|value|tls\.(?:key|crt)|ca\.crt|bearer|basic|digest|jwt|auth)$/i;

export const isHarmless = (value: string): boolean =>
  value.length < 2 ||
  [PLAIN, HIDDEN, REFERENCE, FILE, PROGRESS, ADDRESS, KEY_WORDS].some((each) => each.test(value)) ||
  /^\d{1,3}$/.test(value) ||
  /^ssh-(?:rsa|ed25519|ecdsa) /.test(value) ||
  /^-----BEGIN (?:TRUSTED )?(?:CERTIFICATE|PUBLIC KEY)/.test(value);

/** A bare word of Terraform, or of a program in a traceback, that points to the value. */
export const isHclReference = (value: string): boolean => HCL_REFERENCE.test(value) || HCL_CALL.test(value);

/** A name that Kubernetes would allow. */
export const isObjectName = (value: string): boolean => OBJECT_NAME.test(value);

/** A word or a few as people write them: "token: expired", "Bearer authentication". */
export const isProse = (value: string): boolean => /^["'(]?[A-Za-z]?[a-z]*(?:[-_./'][a-z]+)*[)"'.,;:!?]*$/.test(value);
