/** Words that stand in the names of variables which hold a secret. */
const OF_VARIABLES = /TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL|ACCESS_KEY|API_KEY|PRIVATE_KEY/i;
const OF_KEYS = /(?:token|password|passwd|passphrase|secret|credentials?|(?:access|api|private|secret)-?key)$/i;
/** Keys that name an object of Kubernetes, a key inside of one, or ask for one. */
const OF_OBJECTS =
  /(?:existing|pull|bundle|cert|ca)[-_]?secret(?:[-_]?key)?$|(?:name|ref|file|path)$|^automount|service[-_]?account[-_]?token$/i;

export const variableSoundsSecret = (name: string): boolean => OF_VARIABLES.test(name);

/** Whether a key of a values file sounds like one of a secret; one with an underscore may be the name of a variable. */
export const keySoundsSecret = (key: string): boolean =>
  !OF_OBJECTS.test(key) && (OF_KEYS.test(key) || (/_|^[A-Z\d]+$/.test(key) && variableSoundsSecret(key)));

/** A mapping below such a key is no secret: volumes take a Secret of Kubernetes there. */
export const mayBeObject = (key: string): boolean => /(?:^s|S)ecret$/.test(key);
